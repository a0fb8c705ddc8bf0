"""Signing in with a password, and the one-time links with which passwords are set."""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend import audit
from backend.auth import sign_ins, throttle
from backend.auth.passwords import check_password, hash_password, is_password, needs_rehash
from backend.auth.scope import Scope
from backend.auth.sign_ins import Visitor
from backend.auth.tokens import Kind, digest, new_token
from backend.errors.base import InvalidInput
from backend.errors.people import (
    LinkUsed,
    LoginTaken,
    PersonNotFound,
    SignInRefused,
    TooManySignIns,
)
from backend.schemas.people.account import (
    LinkPurpose,
    NewPassword,
    OneTimeLink,
    Password,
    PasswordChange,
    SignedIn,
)
from backend.text import is_visible, name_line
from db.models.people.sign_in import OneTimeLinkRow
from db.models.people.user import LOCAL, UserRow
from db.session import Database

WAY = "local"
LASTS = {
    LinkPurpose.FIRST_ADMIN: timedelta(days=7),
    LinkPurpose.INVITATION: timedelta(days=7),
    LinkPurpose.RESET: timedelta(hours=24),
}


def clean_login(login: str) -> str:
    """Return what a person signs in with, as it is compared. Raise InvalidInput."""
    line = unicodedata.normalize("NFKC", name_line(login)).casefold()
    if not is_visible(line):
        raise InvalidInput("A name to sign in with needs at least one visible character.")
    return line


def sign_in(database: Database, given: Password, visitor: Visitor) -> SignedIn:
    """Begin a sign-in. Raise SignInRefused, TooManySignIns.

    The password is checked outside of a transaction: that takes a while.
    """
    login = clean_login(given.login)
    with _recording_refusal(database, visitor), database.transaction() as session:
        attempt = throttle.begin_attempt(session, login, visitor.address)
        row = session.execute(_BY_LOGIN.where(UserRow.login == login)).one_or_none()
    is_right = is_password(row.password_hash if row else None, given.password)
    if row is None or not is_right or row.disabled_at is not None:
        _record_failure(database, "sign_in_failed", row.id if row else "", visitor)
        raise SignInRefused
    renewed = hash_password(given.password) if needs_rehash(row.password_hash) else None
    with database.transaction() as session:
        throttle.forgive(session, login, attempt)
        if renewed:
            session.execute(
                update(UserRow).where(UserRow.id == row.id).values(password_hash=renewed)
            )
        return sign_ins.begin(session, row.id, WAY, visitor)


def make_link(session: Session, purpose: LinkPurpose, user_id: str | None) -> str:
    """Return the token of a new link; earlier ones of its person, or to begin with, end."""
    of_same = OneTimeLinkRow.purpose == purpose
    if user_id is not None:
        of_same = OneTimeLinkRow.user_id == user_id
    session.execute(delete(OneTimeLinkRow).where(of_same))
    token = new_token(Kind.LINK)
    session.execute(
        insert(OneTimeLinkRow).values(
            token_hash=digest(token),
            purpose=purpose,
            user_id=user_id,
            expires_at=func.clock_timestamp() + LASTS[purpose],
        )
    )
    return token


def read_link(session: Session, token: str) -> OneTimeLink:
    """Return what a link is for, without using it. Raise LinkUsed."""
    found = _find_link(session, token)
    return OneTimeLink(purpose=LinkPurpose(found.purpose), login=found.login, name=found.name)


def use_link(database: Database, token: str, given: NewPassword, visitor: Visitor) -> SignedIn:
    """Set the password that a link permits to set, and begin a sign-in.

    The first administrator is the person who worked without sign-in before: what was theirs stays
    so. All other sign-ins of the person end.
    Raise LinkUsed, WeakPassword, LoginTaken, InvalidInput.
    """
    with database.read() as session:
        found = _find_link(session, token)
    login = found.login or clean_login(given.login or "")
    check_password(given.password, login, given.name or "")
    values = {"password_hash": hash_password(given.password), "login": login}
    if given.name and is_visible(given.name):
        values["name"] = name_line(given.name)
    elif found.purpose == LinkPurpose.FIRST_ADMIN:
        values["name"] = login
    try:
        with database.transaction() as session:
            user_id = _take_link(session, token)
            session.execute(update(UserRow).where(UserRow.id == user_id).values(**values))
            sign_ins.end_all(session, user_id)
            audit.record(session, user_id, "password_set", "user", user_id, {"by": found.purpose})
            return sign_ins.begin(session, user_id, WAY, visitor)
    except IntegrityError:
        raise LoginTaken from None


def change_password(
    database: Database, scope: Scope, given: PasswordChange, visitor: Visitor
) -> SignedIn:
    """Change the caller's password; all their sign-ins end, and a new one begins.

    Raise SignInRefused if the old password is wrong, TooManySignIns, WeakPassword, InvalidInput.
    """
    with _recording_refusal(database, visitor), database.transaction() as session:
        attempt = throttle.begin_attempt(session, scope.user_id, visitor.address)
        row = session.get(UserRow, scope.user_id)
        stored, login = (row.password_hash, row.login) if row else (None, None)
    if not is_password(stored, given.old):
        _record_failure(database, "password_change_failed", scope.user_id, visitor)
        raise SignInRefused("The old password is wrong.")
    check_password(given.new, login or "", scope.name)
    hashed = hash_password(given.new)
    with database.transaction() as session:
        throttle.forgive(session, scope.user_id, attempt)
        row = session.get_one(UserRow, scope.user_id)
        row.password_hash = hashed
        sign_ins.end_all(session, scope.user_id)
        details = {"by": "change"}
        audit.record(session, scope.user_id, "password_set", "user", scope.user_id, details)
        return sign_ins.begin(session, scope.user_id, WAY, visitor)


def new_person_id() -> str:
    """Return the id of a new person."""
    return str(uuid4())


def _record_failure(database: Database, action: str, user_id: str, visitor: Visitor) -> None:
    """Record a wrong password. Not which name was typed: some type their password there."""
    with database.transaction() as session:
        details = {"way": WAY, "address": visitor.address}
        audit.record(session, audit.NOBODY, action, "user", user_id, details)


@contextmanager
def _recording_refusal(database: Database, visitor: Visitor) -> Iterator[None]:
    """Record that the block refused an attempt because too many have failed."""
    try:
        yield
    except TooManySignIns:
        with database.transaction() as session:
            if throttle.is_first_refusal(session, visitor.address):
                details = {"way": WAY, "address": visitor.address}
                audit.record(session, audit.NOBODY, "sign_in_refused", "user", "", details)
        raise


def _find_link(session: Session, token: str) -> Any:
    row = OneTimeLinkRow
    found = session.execute(
        select(row.purpose, row.user_id, UserRow.login, UserRow.name)
        .outerjoin(UserRow, UserRow.id == row.user_id)
        .where(row.token_hash == digest(token), row.expires_at > func.clock_timestamp())
    ).one_or_none()
    if found is None:
        raise LinkUsed
    return found


def _take_link(session: Session, token: str) -> str:
    """Use a link up, and return its person. Raise LinkUsed, PersonNotFound."""
    row = OneTimeLinkRow
    taken = session.execute(
        delete(row)
        .where(row.token_hash == digest(token), row.expires_at > func.clock_timestamp())
        .returning(row.purpose, row.user_id)
    ).one_or_none()
    if taken is None:
        raise LinkUsed
    user_id = taken.user_id or LOCAL
    if session.get(UserRow, user_id) is None:
        raise PersonNotFound
    return user_id


_BY_LOGIN = select(UserRow.id, UserRow.password_hash, UserRow.disabled_at)
