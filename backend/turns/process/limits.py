"""Limits on waiting turns, per person and in total, so that one user cannot crowd out others."""

import threading
import time
from collections import Counter

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.errors.turns import TooManyTurns
from backend.schemas.conversations.turns import TurnStatus
from backend.settings import Settings
from backend.turns.lifecycle import UNFINISHED
from backend.usage.days import DayBudgets
from db.models.turns.turn import TurnRow

COUNT_SECONDS = 1.0  # how old the count of unfinished turns may be
DOUBT_SECONDS = 0.05  # how old it may be when a turn is refused


class Limits:
    """Checks a new turn against the settings; one per process.

    Turns are counted once a second for all users together; in between, those accepted here are
    added. Ended turns are noticed before anyone is refused, and turns that other processes accept
    with the next count.
    """

    def __init__(self, settings: Settings) -> None:
        self.day = DayBudgets(settings)
        self._settings = settings
        self._lock = threading.Lock()
        self._by_owner: Counter[str] = Counter()
        self._total = 0
        self._counted_at = float("-inf")

    def check(self, session: Session, scope: Scope) -> None:
        """Raise TooManyTurns, TokensUsedUp or BudgetUsedUp when the caller must wait."""
        session.connection()  # before the lock: waiting for a connection must not block others
        with self._lock:
            self._count(session, COUNT_SECONDS)
            if self._refusal(scope):
                self._count(session, DOUBT_SECONDS)
            if refusal := self._refusal(scope):
                raise refusal
            self._by_owner[scope.user_id] += 1
            self._total += 1
        self.day.check(session, scope.user_id)

    def _refusal(self, scope: Scope) -> TooManyTurns | None:
        if self._by_owner[scope.user_id] >= self._settings.user_turns:
            return TooManyTurns()
        if self._total >= self._settings.all_turns:
            return TooManyTurns("Too many turns are waiting in total. Try again in a moment.")
        return None

    def _count(self, session: Session, seconds: float) -> None:
        """Count again if the last count is older than `seconds`."""
        if time.monotonic() - self._counted_at > seconds:
            counted = session.execute(
                select(TurnRow.owner_id, func.count())
                .where(TurnRow.status.in_(UNFINISHED - {TurnStatus.WAITING}))
                .group_by(TurnRow.owner_id)
            )
            self._by_owner = Counter(dict(counted.tuples().all()))
            self._total = self._by_owner.total()
            self._counted_at = time.monotonic()
