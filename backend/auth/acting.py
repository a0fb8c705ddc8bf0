"""For whom transactions act, where PostgreSQL itself keeps the rows of people apart.

The first wall is the condition in each query (`backend.auth.reach`). This is the second one: the
policies of the schema show a transaction of the API only what its principals reach.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from sqlalchemy.orm import Session

from backend.auth.reach import reaching
from backend.auth.scope import Scope
from db.roles import EVERYTHING
from db.session import act_for

# Tasks and threads of a request inherit it. Whoever does not set it sees nobody's rows.
_ACTING: ContextVar[tuple[str, ...]] = ContextVar("acting", default=())


def acting() -> Sequence[str]:
    """Return the principals for which the transactions of the current request act."""
    return _ACTING.get()


def act_as(scope: Scope) -> None:
    """Have the transactions of the current request act for its caller.

    Whoever has a permission on what others own sees all rows; the first wall says which of them.
    """
    _ACTING.set((EVERYTHING,) if scope.permissions else tuple(reaching(scope)))


@contextmanager
def as_system(session: Session) -> Iterator[None]:
    """Let a transaction see all rows within the block: counts, deletions and the like need them."""
    act_for(session, [EVERYTHING])
    yield
    act_for(session, acting())


def act_for_link(session: Session, conversation_id: UUID) -> None:
    """Let the rest of a transaction see the one conversation that a link opens."""
    act_for(session, [f"session:{conversation_id}"])
