"""Signing in with a provider, or by a proxy: whom it names is let in, or refused and recorded."""

from sqlalchemy.orm import Session

from backend import audit
from backend.auth import sign_ins, throttle
from backend.auth.identities import Admission, Identity, admit
from backend.auth.oidc import flow
from backend.auth.oidc.metadata import Directory
from backend.auth.sign_ins import PROXY, Visitor
from backend.auth.tokens import digest
from backend.errors.base import AppError
from backend.errors.people import AnswerRefused
from backend.people.providers import store
from backend.schemas.people.account import SignedIn
from backend.schemas.people.providers import (
    ProviderAnswer,
    ProviderSignIn,
    ProviderVisit,
    ProxiedPerson,
)
from backend.settings import Settings
from db.session import Database


def begin(
    database: Database, settings: Settings, directory: Directory, wanted: ProviderSignIn
) -> ProviderVisit:
    """Return where to send the browser. Raise ProviderNotFound, ProviderFails, TooManySignIns."""
    with database.read() as session:
        provider = store.find_provider(session, settings, wanted.provider)
    return flow.begin(database, directory, provider, wanted)


def answer(
    database: Database,
    settings: Settings,
    directory: Directory,
    given: ProviderAnswer,
    visitor: Visitor,
) -> SignedIn:
    """Begin the sign-in of the person whom a provider's answer names.

    What is refused is recorded with its reason.
    Raise AnswerRefused, ProviderFails, ProviderNotFound, and what `admit` raises.
    """
    try:
        begun = flow.take_request(database, given)
        with database.read() as session:
            provider = store.find_provider(session, settings, given.provider)
        identity = flow.redeem(directory, provider, begun, given)
        admission = Admission(provider.id, provider.groups, provider.admits_new)
        with database.transaction() as session:
            ways = store.ways_in(session, settings)
            user_id = admit(session, identity, admission, ways, begun.link_hash)
            return sign_ins.begin(session, user_id, flow.WAY, visitor)
    except AppError as error:
        _record_refusal(database, error, flow.WAY, given.provider, visitor)
        raise


def of_proxy(
    database: Database, settings: Settings, person: ProxiedPerson, visitor: Visitor
) -> SignedIn:
    """Begin the sign-in of a person whom a trusted proxy has let in. Raise as `admit_proxied`."""
    try:
        with database.transaction() as session:
            user_id = admit_proxied(session, settings, person)
            return sign_ins.begin(session, user_id, PROXY, visitor)
    except AppError as error:
        _record_refusal(database, error, PROXY, PROXY, visitor)
        raise


def admit_proxied(session: Session, settings: Settings, person: ProxiedPerson) -> str:
    """Return the id of the person whom a trusted proxy names; somebody new becomes a member.

    All proxies of an installation are one issuer. Raise PersonDisabled, LinkUsed, IdentityTaken.
    """
    identity = Identity(PROXY, person.user, person.name, person.email, frozenset(person.groups))
    admission = Admission(PROXY, settings.proxy_groups, admits_new=True)
    link_hash = digest(person.link_token) if person.link_token else None
    return admit(session, identity, admission, store.ways_in(session, settings), link_hash)


def _record_refusal(
    database: Database, error: AppError, way: str, provider: str, visitor: Visitor
) -> None:
    """Record a refusal; of answers that any stranger can send, each kind once in a while."""
    is_stranger = isinstance(error, AnswerRefused)
    reason = error.reason if isinstance(error, AnswerRefused) else error.title
    details = {"way": way, "provider": provider, "address": visitor.address, "reason": reason}
    with database.transaction() as session:
        of = f"{visitor.address} {reason}"
        if is_stranger and not throttle.is_first_refusal(session, of):
            return
        audit.record(session, audit.NOBODY, "sign_in_failed", "user", "", details)
