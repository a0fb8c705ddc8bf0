"""Signing in, in words. Pure."""

import re
from collections.abc import Mapping, Sequence

from backend.schemas.people.account import Way
from backend.schemas.people.providers import GroupMeaning, IdentityProvider, ProviderSource
from ui.features.people.words import role
from ui.shared.text.markdown import plain

LABELS = {
    "id": "Id",
    "name": "Name",
    "issuer": "Issuer",
    "client_id": "Client id",
    "client_secret": "Client secret",
    "scopes": "Scopes",
    "groups_claim": "Groups claim",
    "groups": "Group",
}
_FIELD = re.compile(rf"(^|; )({'|'.join(LABELS)})(\.[^:;]*)?: ")
_WAYS = {
    "local": "a name and a password",
    "oidc": "the providers below",
    "proxy": "a proxy of TRUSTED_PROXIES, which names people in headers",
}
OFF = (
    "**Nobody can use the providers below yet.** AUTH does not name `oidc`: set it to"
    " `AUTH=local,oidc`, or to `AUTH=oidc` once an administrator has signed in by a provider, and"
    " restart."
)
RULE = (
    "Changes hold from the next sign-in on. A provider by which the last administrator signs in can"
    " neither be removed nor moved to another issuer or client."
)
NO_GROUPS = "Name the claim with people's groups above and save it; then say what they mean here."
GROUPS = (
    "Read at each sign-in. What a group gives ends when the group does; what an administrator gave"
    " stays."
)
GROUP_HELP = "One that means something already is changed, or removed."
REMOVING = (
    "Who signed in by it is signed out, and loses the teams and roles that its groups gave. People,"
    " and what is theirs, stay; its secret is permanently deleted."
)


def allowed(ways: Sequence[Way]) -> str:
    """Return what AUTH allows."""
    names = dict.fromkeys(way.way for way in ways)
    told = [_WAYS[name] for name in names if name in _WAYS]
    return f"**People sign in with** {'; or '.join(told)}. AUTH in the environment says so."


def refusal(detail: str) -> str:
    """Return why a provider is refused, with the fields named as they are labelled."""
    return _FIELD.sub(lambda field: f"{field[1]}{LABELS[field[2]]}: ", detail)


def option(provider: IdentityProvider | None) -> str:
    """Return a provider as a choice; None: a new one."""
    return f"{plain(provider.name, 80)} ({provider.id})" if provider else "Add a provider…"


def source(provider: IdentityProvider) -> str:
    """Return where a provider is set."""
    return "here" if provider.source is ProviderSource.PAGE else "in the environment"


def meaning(of: GroupMeaning, teams: Mapping[str, str]) -> tuple[str, str]:
    """Return the team and the role that a group gives."""
    team = teams.get(of.team, "a deleted team") if of.team else ""
    return team, role(of.role) if of.role else ""
