"""People in words. Pure."""

from backend.schemas.people.people import Mailed, Person
from backend.schemas.people.rights import Role

_ROLES = {
    Role.MEMBER: "Member",
    Role.REVIEWER: "Reviewer",
    Role.ADMIN: "Administrator",
}
ROLE_HELP = (
    "Members see what is theirs, their teams' and shared with them. Reviewers also read the"
    " sessions of others, and the owners see that. Administrators do that, and change all settings."
)
DISABLING = (
    "Within ten seconds their open pages, running and queued turns, API tokens and one-time links"
    " end. Their sessions and files stay. Enabling them lets them sign in again; tokens have to be"
    " created anew."
)


def role(of: Role) -> str:
    """Return a role in words."""
    return _ROLES[of]


def state_of(person: Person) -> str:
    """Return whether a person can sign in."""
    if person.disabled_at is not None:
        return "Disabled"
    if person.is_service:
        return "Service account"
    return "Invited" if person.is_invited else "Active"


def mail_words(mailed: Mailed | None) -> str:
    """Return what became of the mail with a link."""
    if mailed is None:
        return "Copy it now and hand it over: it will not be shown again, and works once."
    if mailed.problem:
        return f"It could not be mailed to {mailed.to}: {mailed.problem} Copy it and hand it over."
    return f"It was mailed to {mailed.to}. You can copy it now; it will not be shown again."
