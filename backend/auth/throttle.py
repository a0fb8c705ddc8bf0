"""Failed sign-ins slow down the next ones, of the same account and from the same address.

Nobody is locked out: after a moment an attempt is always possible again, so that a stranger who
types wrong passwords costs the account's person seconds, not the account.
"""

from datetime import timedelta

from sqlalchemy import ColumnElement, delete, func, insert, or_, select, text
from sqlalchemy.orm import Session

from backend.errors.people import TooManySignIns
from db.models.people.sign_in import FailedSignInRow

KEPT = timedelta(minutes=15)
FREE = {"account": 5, "address": 20}  # failures within KEPT that cost nothing
LONGEST_WAIT = 30.0  # seconds
_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended('colloquy failed sign-ins', 0))")


def begin_attempt(session: Session, account: str, address: str) -> list[int]:
    """Count an attempt as failed until it succeeds; return what `forgive` needs then.

    Counted before the password is checked, so that many at the same moment do not slip through.
    Raise TooManySignIns while the account or the address has to wait.
    """
    session.execute(_ALONE)
    wait = max(_wait(session, kind, of) for kind, of in _subjects(account, address))
    if wait > 0:
        seconds = max(1, round(wait))
        words = f"{seconds} seconds" if seconds > 1 else "a second"
        refusal = TooManySignIns(f"Too many sign-ins have failed. Try again in {words}.")
        refusal.retry_after = seconds
        raise refusal
    row = FailedSignInRow
    session.execute(delete(row).where(row.at < func.clock_timestamp() - KEPT))
    rows = [{"subject": f"{kind} {of}"} for kind, of in _subjects(account, address)]
    return list(session.scalars(insert(row).returning(row.id), rows))


def forgive(session: Session, account: str, attempt: list[int]) -> None:
    """Forget an attempt that succeeded, and the account's failures. Its address's others stay."""
    row = FailedSignInRow
    session.execute(
        delete(row).where(or_(row.id.in_(attempt), row.subject == f"account {account}"))
    )


def is_first_refusal(session: Session, address: str) -> bool:
    """Return whether an attempt from an address is refused for the first time in a while.

    Only that is recorded: what strangers can do without end must not fill the audit trail.
    """
    session.execute(_ALONE)
    row, subject = FailedSignInRow, f"refused {address}"
    if session.scalar(select(row.id).where(row.subject == subject, _is_recent()).limit(1)):
        return False
    session.execute(insert(row).values(subject=subject))
    return True


def _is_recent() -> ColumnElement[bool]:
    return FailedSignInRow.at > func.clock_timestamp() - KEPT


def _subjects(account: str, address: str) -> list[tuple[str, str]]:
    return [("account", account), ("address", address)]


def _wait(session: Session, kind: str, of: str) -> float:
    """Return the seconds to wait: they double with each failure beyond those that are free."""
    row = FailedSignInRow
    since = func.extract("epoch", func.clock_timestamp() - func.max(row.at))
    failures, seconds = session.execute(
        select(func.count(), since).where(row.subject == f"{kind} {of}", _is_recent())
    ).one()
    beyond = failures - FREE[kind]
    return float(min(2.0**beyond, LONGEST_WAIT) - float(seconds)) if beyond >= 0 else 0.0
