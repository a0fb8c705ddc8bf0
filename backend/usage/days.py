"""Daily budgets per person: checked before a turn is accepted, and before each step."""

import threading
import time

from sqlalchemy.orm import Session

from backend.errors.budgets import BudgetUsedUp, TokensUsedUp
from backend.settings import Settings
from backend.usage.ledger import Used, used_today
from backend.usage.spent import Spent
from db.session import Database

COUNT_SECONDS = 2.0


class DayBudgets:
    """Checks USER_TOKENS_PER_DAY and USER_COST_PER_DAY; one per process.

    For steps, everyone's usage is counted together once in COUNT_SECONDS; in between, usage by this
    process is added. Deleting sessions frees nothing: the ledger outlives them.
    """

    def __init__(self, settings: Settings) -> None:
        self._tokens, self._cost = settings.user_tokens_per_day, settings.user_cost_per_day
        self._lock = threading.Lock()
        self._used: dict[str, Used] = {}
        self._counted_at = float("-inf")

    def check(self, session: Session, owner_id: str) -> None:
        """Raise TokensUsedUp or BudgetUsedUp if a person has used up the day's budget."""
        if self._tokens or self._cost:
            self._refuse(used_today(session, owner_id).get(owner_id, Used()))

    def check_step(self, database: Database, owner_id: str) -> None:
        """Do the same before each step, without a query for each."""
        if not self._tokens and not self._cost:
            return
        if self._is_due():
            with database.read() as session:
                counted = used_today(session)
            with self._lock:
                self._used = counted
        with self._lock:
            used = self._used.get(owner_id, Used())
        self._refuse(used)

    def count(self, owner_id: str, before: Spent, after: Spent) -> None:
        """Add the usage of a step of this process."""
        if not self._tokens and not self._cost:
            return
        was, now = Used.of(before.total), Used.of(after.total)
        step = Used(now.tokens - was.tokens, now.cost - was.cost)
        with self._lock:
            self._used[owner_id] = self._used.get(owner_id, Used()) + step

    def _is_due(self) -> bool:
        """Return whether this thread should count; others continue with the previous count."""
        with self._lock:
            now = time.monotonic()
            if now - self._counted_at <= COUNT_SECONDS:
                return False
            self._counted_at = now
            return True

    def _refuse(self, used: Used) -> None:
        if self._tokens and used.tokens >= self._tokens:
            raise TokensUsedUp
        if self._cost and used.cost >= self._cost:
            raise BudgetUsedUp
