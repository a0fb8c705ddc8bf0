"""Identity providers, as administrators set them on the page: listed, added, changed, removed."""

from typing import Any

from pydantic import SecretStr
from sqlalchemy import delete, exists, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.administrators import WaysIn, can_administer
from backend.auth.claimed import end_memberships
from backend.auth.oidc.flow import WAY, is_secret_accepted
from backend.auth.oidc.metadata import look_up
from backend.auth.oidc.provider import Provider, redirect_url
from backend.auth.scope import Scope
from backend.auth.sign_ins import PROXY
from backend.connections.keyring import Keyring
from backend.errors.base import ConfigurationError, InvalidInput
from backend.errors.models import KeyUnreadable
from backend.errors.people import (
    LastWayIn,
    ProviderExists,
    ProviderFails,
    ProviderNotFound,
    ProviderOfEnvironment,
)
from backend.outgoing.policy import Outgoing
from backend.people.providers import store
from backend.schemas.people.providers import (
    SCOPES,
    GroupMeaning,
    IdentityProvider,
    IdentityProviders,
    NewProvider,
    ProviderChange,
    ProviderSource,
    ProviderTest,
    TestedProvider,
)
from backend.schemas.people.rights import Permission
from backend.settings import Settings
from db.models.people.provider import IdentityProviderRow, OidcRequestRow
from db.models.people.sign_in import SignInRow
from db.models.people.user import IdentityRow, TeamRow
from db.session import Database

SUBJECT = "identity provider"  # in the audit trail
_ALONE = text("LOCK TABLE identity_providers IN SHARE ROW EXCLUSIVE MODE")
_TOLD = ("name", "issuer", "client_id", "scopes", "groups_claim", "admits_new")


def list_providers(session: Session, settings: Settings, scope: Scope) -> IdentityProviders:
    """Return all providers, without their secrets. Raise NotAllowed."""
    scope.require(Permission.MANAGE_PEOPLE)
    of_environment = [
        _shown(store.of_settings(settings, id, one), ProviderSource.ENVIRONMENT)
        for id, one in settings.oidc_providers.items()
    ]
    of_page = [_of_page(settings, row) for row in store.find_rows(session, settings)]
    return IdentityProviders(
        items=of_environment + of_page,
        redirect_url=redirect_url(settings.pages_url, "{id}"),
        is_on=WAY in settings.ways,
    )


def add(session: Session, settings: Settings, scope: Scope, new: NewProvider) -> IdentityProvider:
    """Add a provider. Raise NotAllowed, ProviderExists, InvalidInput, ConfigurationError."""
    scope.require(Permission.MANAGE_PEOPLE)
    if new.id in settings.oidc_providers:
        raise ProviderExists
    if new.id == PROXY:
        raise InvalidInput(f"The id {PROXY} means the proxy. Choose another one.")
    _check_teams(session, new.groups)
    values: dict[str, Any] = new.model_dump(exclude={"client_secret"}, mode="json")
    values["client_secret"] = _sealed(settings, new.client_secret, new.issuer, new.client_id)
    try:
        with session.begin_nested():
            session.execute(insert(IdentityProviderRow).values(**values))
    except IntegrityError:
        raise ProviderExists from None
    _record(session, scope, "added", new.id, values, is_secret_new=True)
    return _of_page(settings, session.get_one(IdentityProviderRow, new.id))


def change(
    session: Session, settings: Settings, scope: Scope, provider_id: str, wanted: ProviderChange
) -> IdentityProvider:
    """Change a provider for sign-ins from now on.

    Raise NotAllowed, ProviderNotFound, ProviderOfEnvironment, LastWayIn, InvalidInput.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    session.execute(_ALONE)
    row, before = _find(session, settings, provider_id), store.ways_in(session, settings)
    values: dict[str, Any] = wanted.model_dump(
        exclude_unset=True, exclude={"client_secret"}, mode="json"
    )
    for name, value in values.items():
        if value is None and name != "groups_claim":
            raise InvalidInput(f"{name}: this must not be null")
    _check_teams(session, wanted.groups or {})
    told = dict(values)
    issuer, client_id = (values.get(name) or getattr(row, name) for name in ("issuer", "client_id"))
    is_elsewhere = (issuer, client_id) != (row.issuer, row.client_id)
    if wanted.client_secret is not None:
        values["client_secret"] = _sealed(settings, wanted.client_secret, issuer, client_id)
    elif is_elsewhere and row.client_secret:
        raise InvalidInput(
            "The stored client secret is for the stored issuer and client id, and is shown to no"
            " other. Enter the new one, or an empty one if there is none."
        )
    old_issuer = row.issuer
    if values:
        of_row = IdentityProviderRow.id == provider_id
        session.execute(update(IdentityProviderRow).where(of_row).values(**values))
        session.refresh(row)
    if is_elsewhere:
        _end(session, settings, provider_id, old_issuer, before)
    _record(session, scope, "changed", provider_id, told, wanted.client_secret is not None)
    return _of_page(settings, row)


def remove(session: Session, settings: Settings, scope: Scope, provider_id: str) -> None:
    """Remove a provider, with the sign-ins and memberships that came by it.

    Raise NotAllowed, ProviderNotFound, ProviderOfEnvironment, LastWayIn.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    session.execute(_ALONE)
    row, before = _find(session, settings, provider_id), store.ways_in(session, settings)
    issuer = row.issuer
    session.execute(delete(IdentityProviderRow).where(IdentityProviderRow.id == provider_id))
    _end(session, settings, provider_id, issuer, before)
    details = {"issuer": issuer}
    audit.record(session, scope.user_id, "removed", SUBJECT, provider_id, details)


def test(
    database: Database, settings: Settings, scope: Scope, wanted: TestedProvider
) -> ProviderTest:
    """Read what a provider publishes, show it our client, and save nothing.

    Raise NotAllowed, InvalidInput.
    """
    scope.require(Permission.MANAGE_PEOPLE)
    with database.read() as session:
        provider = _tested(session, settings, wanted)
    try:
        found = look_up(provider)
        is_accepted = is_secret_accepted(provider, found.metadata)
    except ProviderFails as error:
        return ProviderTest(is_usable=False, detail=error.detail)
    if not is_accepted:
        detail = "The provider refuses the client id or the client secret. Correct them."
        return ProviderTest(is_usable=False, detail=detail)
    keys = len(found.keys)
    detail = (
        f"The provider publishes what a sign-in needs, {keys} key{'s' if keys > 1 else ''} among"
        " it, and knows this client. Whether it sends people back is seen when one signs in."
    )
    return ProviderTest(is_usable=True, detail=detail)


def _tested(session: Session, settings: Settings, wanted: TestedProvider) -> Provider:
    secret = wanted.client_secret
    if secret is None:
        secret = _stored_secret(session, settings, wanted)
    return Provider(
        id=wanted.id or "tested",
        name="The provider",
        issuer=wanted.issuer,
        client_id=wanted.client_id,
        client_secret=secret,
        scopes=SCOPES,
        redirect_url=redirect_url(settings.pages_url, wanted.id or "tested"),
        groups_claim=None,
        groups={},
        admits_new=False,
        outgoing=_outgoing(settings, wanted),
    )


def _outgoing(settings: Settings, wanted: TestedProvider) -> Outgoing:
    known = settings.oidc_providers.get(wanted.id or "")
    is_theirs = known is not None and known.issuer == wanted.issuer
    return settings.outgoing.trusting(wanted.issuer) if is_theirs else settings.outgoing


def _stored_secret(session: Session, settings: Settings, wanted: TestedProvider) -> SecretStr:
    """Return the secret that is stored for this issuer and client. Raise InvalidInput."""
    if wanted.id in settings.oidc_providers:
        known = settings.oidc_providers[wanted.id]
        if (known.issuer, known.client_id) == (wanted.issuer, wanted.client_id):
            return known.client_secret
        raise InvalidInput("The environment's secret is for its issuer and client id only.")
    row = session.get(IdentityProviderRow, wanted.id) if wanted.id else None
    if row is None:
        return SecretStr("")
    if (row.issuer, row.client_id) != (wanted.issuer, wanted.client_id) and row.client_secret:
        raise InvalidInput(
            "The stored client secret is for the stored issuer and client id. Enter the new one."
        )
    try:
        return store.open_secret(settings, row)
    except KeyUnreadable:
        raise InvalidInput(store.UNREADABLE) from None


def _end(
    session: Session, settings: Settings, provider_id: str, issuer: str, before: WaysIn
) -> None:
    """End what a provider that is not used any more had begun. Raise LastWayIn."""
    after = store.ways_in(session, settings)
    if can_administer(session, before) and not can_administer(session, after):
        raise LastWayIn
    end_memberships(session, provider_id, after)
    of_provider = OidcRequestRow.provider_id == provider_id
    session.execute(delete(OidcRequestRow).where(of_provider))
    if issuer in after.issuers:
        return
    row, of_person = SignInRow, IdentityRow.user_id == SignInRow.user_id
    by_it = row.way == WAY, row.ended_at.is_(None)
    theirs = exists().where(of_person, IdentityRow.issuer == issuer).correlate(SignInRow)
    elsewhere = exists().where(of_person, IdentityRow.issuer.in_(sorted(after.issuers)))
    ending = update(row).where(*by_it, theirs, ~elsewhere.correlate(SignInRow))
    session.execute(ending.values(ended_at=func.clock_timestamp()))


def _find(session: Session, settings: Settings, provider_id: str) -> IdentityProviderRow:
    if provider_id in settings.oidc_providers:
        raise ProviderOfEnvironment
    row = session.get(IdentityProviderRow, provider_id)
    if row is None:
        raise ProviderNotFound("This provider does not exist.")
    return row


def _check_teams(session: Session, groups: dict[str, GroupMeaning]) -> None:
    wanted = {one.team for one in groups.values() if one.team}
    known = set(session.scalars(select(TeamRow.id).where(TeamRow.id.in_(sorted(wanted)))))
    if missing := sorted(wanted - known):
        raise InvalidInput(f"There is no team with the id {missing[0]!r}.")


def _sealed(settings: Settings, secret: SecretStr, issuer: str, client_id: str) -> str:
    """Return a secret as it is stored. Raise ConfigurationError."""
    if not secret.get_secret_value():
        return ""
    try:
        of = store.bound_to(issuer, client_id)
        return Keyring(settings).seal(secret.get_secret_value(), of)
    except OSError as error:
        raise ConfigurationError(
            "The client secret cannot be encrypted, so nothing was saved: DATA_DIR is not writable"
            f" ({error.strerror}). Fix that, or set ENCRYPTION_KEY."
        ) from error


def _of_page(settings: Settings, row: IdentityProviderRow) -> IdentityProvider:
    problem = None
    try:
        store.open_secret(settings, row)
    except KeyUnreadable:
        problem = store.UNREADABLE
    # Whether there is a secret is all that is shown of it.
    shown = store.of_row(settings, row, SecretStr(row.client_secret))
    return _shown(shown, ProviderSource.PAGE, key_problem=problem, created_at=row.created_at)


def _shown(provider: Provider, source: ProviderSource, **more: Any) -> IdentityProvider:
    names = IdentityProvider.model_fields.keys() & vars(provider).keys()
    return IdentityProvider(
        **{name: getattr(provider, name) for name in names},
        source=source,
        has_secret=bool(provider.client_secret.get_secret_value()),
        **more,
    )


def _record(
    session: Session,
    scope: Scope,
    action: str,
    provider_id: str,
    values: dict[str, Any],
    is_secret_new: bool,
) -> None:
    details = {name: values[name] for name in _TOLD if name in values}
    details |= {"groups": len(values["groups"])} if "groups" in values else {}
    details["secret_is_new"] = is_secret_new
    audit.record(session, scope.user_id, action, SUBJECT, provider_id, details)
