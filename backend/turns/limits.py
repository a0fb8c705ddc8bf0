"""How much may wait: per person and in all, so that nobody's flood drowns the others."""

import threading
import time
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.errors import BudgetUsedUp, TokensUsedUp, TooManyTurns
from backend.settings import Settings
from backend.turns.lifecycle import UNFINISHED
from db.models.turn import TurnRow

COUNT_SECONDS = 1.0  # how old the count of all turns may be


class Limits:
    """Checks a new turn against the settings; one per process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._total = 0
        self._counted_at = float("-inf")

    def check(self, session: Session, scope: Scope) -> None:
        """Raise TooManyTurns, TokensUsedUp or BudgetUsedUp when the caller must wait."""
        mine = select(TurnRow.id).where(
            TurnRow.owner_id == scope.user_id, TurnRow.status.in_(UNFINISHED)
        )
        if _count(session, mine, self._settings.user_turns) >= self._settings.user_turns:
            raise TooManyTurns
        if self._count_all(session) >= self._settings.all_turns:
            raise TooManyTurns("Too many turns wait in all. Try again in a little while.")
        if self._settings.user_tokens_per_day or self._settings.user_cost_per_day:
            self._check_day(session, scope)

    def _count_all(self, session: Session) -> int:
        """The unfinished turns of everybody, counted at most once a second."""
        with self._lock:
            if time.monotonic() - self._counted_at > COUNT_SECONDS:
                everyone = select(TurnRow.id).where(TurnRow.status.in_(UNFINISHED))
                self._total = _count(session, everyone, self._settings.all_turns)
                self._counted_at = time.monotonic()
            return self._total

    def _check_day(self, session: Session, scope: Scope) -> None:
        """Raise when the caller has used in a day what the settings allow."""
        tokens = _used("input_tokens") + _used("output_tokens")
        day_ago = func.now() - func.make_interval(0, 0, 0, 1)
        used = session.execute(
            select(func.sum(tokens).label("tokens"), func.sum(_used("cost")).label("cost")).where(
                TurnRow.owner_id == scope.user_id, TurnRow.created_at > day_ago
            )
        ).one()
        settings = self._settings
        if settings.user_tokens_per_day and (used.tokens or 0) >= settings.user_tokens_per_day:
            raise TokensUsedUp
        if settings.user_cost_per_day and (used.cost or 0) >= settings.user_cost_per_day:
            raise BudgetUsedUp


def _used(name: str) -> ColumnElement[float]:
    return func.coalesce(TurnRow.usage[name].as_float(), 0.0)


def _count(session: Session, rows: Select[Any], most: int) -> int:
    """How many rows there are, counted no further than `most`."""
    return session.scalar(select(func.count()).select_from(rows.limit(most).subquery())) or 0
