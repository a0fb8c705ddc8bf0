"""The providers that people can sign in with: of the environment, and those set on the page."""

from collections.abc import Collection

from pydantic import SecretStr, TypeAdapter
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.auth import local
from backend.auth.administrators import WaysIn
from backend.auth.oidc.flow import WAY
from backend.auth.oidc.provider import Provider, redirect_url
from backend.auth.sign_ins import PROXY
from backend.connections.keyring import Keyring
from backend.errors.models import KeyUnreadable
from backend.errors.people import ProviderFails, ProviderNotFound
from backend.schemas.people.account import Way
from backend.schemas.people.providers import GroupMeaning, ProviderSettings
from backend.settings import Settings
from db.models.people.provider import IdentityProviderRow

GROUPS = TypeAdapter(dict[str, GroupMeaning])
UNREADABLE = (
    "The stored client secret cannot be read: the encryption key is missing or not the one that it"
    " was encrypted with. Put that back, or enter the secret again."
)


def find_provider(session: Session, settings: Settings, provider_id: str) -> Provider:
    """Return a provider with its secret. Raise ProviderNotFound, ProviderFails."""
    if WAY not in settings.ways:
        raise ProviderNotFound
    if (found := settings.oidc_providers.get(provider_id)) is not None:
        return of_settings(settings, provider_id, found)
    row = session.get(IdentityProviderRow, provider_id)
    if row is None:
        raise ProviderNotFound
    try:
        return of_row(settings, row, open_secret(settings, row))
    except KeyUnreadable:
        raise ProviderFails(UNREADABLE) from None


def list_ways(session: Session, settings: Settings) -> list[Way]:
    """Return how people sign in, each provider as a way of its own."""
    ways: list[Way] = []
    for way in settings.ways:
        if way != WAY:
            ways.append(Way(way=way))
            continue
        named = [(id, one.name) for id, one in settings.oidc_providers.items()]
        named += [(row.id, row.name) for row in find_rows(session, settings)]
        ways += [Way(way=way, id=id, name=name) for id, name in named]
    return ways


def ways_in(session: Session, settings: Settings, but: str | None = None) -> WaysIn:
    """Return the ways of signing in that are on; without those of the provider `but`."""
    issuers: set[str] = {PROXY} if PROXY in settings.ways else set()
    if WAY in settings.ways:
        issuers |= {one.issuer for one in settings.oidc_providers.values()}
        issuers |= {row.issuer for row in find_rows(session, settings) if row.id != but}
    return WaysIn(has_passwords=local.WAY in settings.ways, issuers=frozenset(issuers))


def find_rows(session: Session, settings: Settings) -> Collection[IdentityProviderRow]:
    """Return the providers of the page; one with an id of the environment's is not used."""
    row = IdentityProviderRow
    return session.scalars(
        select(row)
        .where(row.id.not_in(sorted(settings.oidc_providers)))
        .order_by(row.created_at, row.id)
    ).all()


def of_settings(settings: Settings, provider_id: str, found: ProviderSettings) -> Provider:
    """Return a provider of the environment."""
    given = {name: getattr(found, name) for name in ProviderSettings.model_fields}
    return Provider(
        id=provider_id,
        redirect_url=redirect_url(settings.pages_url, provider_id),
        outgoing=settings.outgoing.trusting(found.issuer),  # the operator wrote it
        **given,
    )


def of_row(settings: Settings, row: IdentityProviderRow, secret: SecretStr) -> Provider:
    """Return a provider of the page."""
    names = ("id", "name", "issuer", "client_id", "scopes", "groups_claim", "admits_new")
    return Provider(
        **{name: getattr(row, name) for name in names},
        client_secret=secret,
        groups=GROUPS.validate_python(row.groups),
        redirect_url=redirect_url(settings.pages_url, row.id),
        outgoing=settings.outgoing,
    )


def open_secret(settings: Settings, row: IdentityProviderRow) -> SecretStr:
    """Return a stored secret. Raise KeyUnreadable."""
    if not row.client_secret:
        return SecretStr("")
    return SecretStr(Keyring(settings).open(row.client_secret, bound_to(row.issuer, row.client_id)))


def bound_to(issuer: str, client_id: str) -> str:
    """Return whose a secret is: it is shown to no other issuer, and for no other client."""
    return f"{issuer} {client_id}"
