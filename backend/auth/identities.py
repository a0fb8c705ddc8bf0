"""Whom an identity provider or a proxy names: found, made, and linked. The key is never an address.

An address may pass to somebody else, and some providers let people type any (OpenID Connect Core
1.0, 5.7): only issuer and subject together are a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from backend import audit
from backend.auth import local, sign_ins
from backend.auth.administrators import WaysIn
from backend.auth.claimed import apply_groups
from backend.errors.people import IdentityTaken, LinkUsed, NotInvited, PersonDisabled
from backend.schemas.people.account import LinkPurpose
from backend.schemas.people.providers import GroupMeaning
from backend.text import is_visible
from colloquy_kit.messages.clean import clean_text
from db.models.people.sign_in import OneTimeLinkRow
from db.models.people.user import LOCAL, IdentityRow, UserRow

LONGEST = 200
_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended(:of, 0))")


@dataclass(frozen=True)
class Identity:
    """Whom an issuer names, with what it says of them."""

    issuer: str
    subject: str
    name: str | None = None
    email: str | None = None
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Admission:
    """What an issuer's word counts for here: who is let in, and what its groups mean.

    `provider`: its id, as memberships name it.
    """

    provider: str
    groups: Mapping[str, GroupMeaning]
    admits_new: bool


def admit(
    session: Session,
    identity: Identity,
    admission: Admission,
    ways: WaysIn,
    link_hash: str | None = None,
) -> str:
    """Return the id of the person that this identity is, with their groups applied.

    A link makes the identity that of the invited person, or of the first administrator; without
    one, somebody new becomes a member if the provider admits them.
    Raise NotInvited, PersonDisabled, LinkUsed, IdentityTaken.
    """
    session.execute(_ALONE, {"of": f"identity {identity.issuer} {identity.subject}"})
    user_id = _known(session, identity)
    if link_hash is not None:
        user_id = _link(session, identity, link_hash, user_id)
    elif user_id is None:
        is_in_group = bool(identity.groups & admission.groups.keys())
        if not (admission.admits_new or is_in_group):
            raise NotInvited
        user_id = _make(session, identity, admission.provider)
    if session.get_one(UserRow, user_id).disabled_at is not None:
        raise PersonDisabled
    apply_groups(session, user_id, admission.provider, admission.groups, identity.groups, ways)
    return user_id


def _known(session: Session, identity: Identity) -> str | None:
    row = IdentityRow
    of = (row.issuer == identity.issuer) & (row.subject == identity.subject)
    return session.scalar(select(row.user_id).where(of))


def _make(session: Session, identity: Identity, provider: str) -> str:
    user_id = local.new_person_id()
    values = {"name": _name(identity), "email": _line(identity.email)}
    session.execute(insert(UserRow).values(id=user_id, **values))
    _own(session, identity, user_id)
    audit.record(session, user_id, "joined", "user", user_id, {"provider": provider})
    return user_id


def _link(session: Session, identity: Identity, link_hash: str, known: str | None) -> str:
    """Use a one-time link up, and make the identity its person's. Raise LinkUsed, IdentityTaken.

    Who has signed in before and opens the first administrator's link becomes that one.
    """
    row = OneTimeLinkRow
    taken = session.execute(
        delete(row)
        .where(row.token_hash == link_hash, row.expires_at > func.clock_timestamp())
        .returning(row.purpose, row.user_id)
    ).one_or_none()
    if taken is None or taken.purpose == LinkPurpose.RESET:
        raise LinkUsed
    user_id = taken.user_id or LOCAL
    if known not in (None, user_id):
        if taken.purpose != LinkPurpose.FIRST_ADMIN:
            raise IdentityTaken
        sign_ins.end_all(session, known)
    if taken.purpose == LinkPurpose.FIRST_ADMIN:
        values = {"name": _name(identity), "email": _line(identity.email)}
        session.execute(update(UserRow).where(UserRow.id == user_id).values(**values))
    _own(session, identity, user_id)
    details = {"by": taken.purpose, "issuer": identity.issuer}
    audit.record(session, user_id, "identity_linked", "user", user_id, details)
    return user_id


def _own(session: Session, identity: Identity, user_id: str) -> None:
    row = upsert(IdentityRow).values(
        issuer=identity.issuer, subject=identity.subject, user_id=user_id
    )
    session.execute(
        row.on_conflict_do_update(
            index_elements=["issuer", "subject"], set_={"user_id": row.excluded.user_id}
        )
    )


def _name(identity: Identity) -> str:
    return _line(identity.name) or _line(identity.email) or _line(identity.subject) or "Somebody"


def _line(given: str | None) -> str | None:
    line = " ".join(clean_text(given or "").split())[:LONGEST]
    return line if is_visible(line) else None
