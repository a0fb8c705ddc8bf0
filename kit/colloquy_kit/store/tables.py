"""The host's three classes, and the sessions in which its functions work."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy.orm import Session, sessionmaker

from colloquy_kit.store.errors import NotBound

C = TypeVar("C", bound=Any)
S = TypeVar("S", bound=Any)
M = TypeVar("M", bound=Any)


@dataclass(frozen=True)
class Tables(Generic[C, S, M]):
    """The host's mapped classes, made with the mixins of `colloquy_kit.tables`."""

    conversation: type[C]
    agent_state: type[S]
    display_message: type[M]


class Sessions:
    """Where the host's functions get their session: its own transaction, or one of their own."""

    def __init__(self) -> None:
        self._open: sessionmaker[Session] | None = None

    def bind(self, sessions: sessionmaker[Session]) -> None:
        """Set the sessionmaker for calls without a session; once, when the application starts."""
        self._open = sessions

    @contextmanager
    def transaction(self, session: Session | None = None) -> Iterator[Session]:
        """Yield the given session, which its owner commits, or a new one, committed at the end.

        Rows stay readable afterwards. Raise NotBound without either.
        """
        if session is not None:
            yield session
            session.flush()
            return
        if self._open is None:
            raise NotBound
        with self._open(expire_on_commit=False) as own, own.begin():
            yield own
