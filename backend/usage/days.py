"""Daily budgets of people and teams: checked before a turn is accepted, and before each step."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.schemas.people.rights import PrincipalType
from backend.settings import Settings
from backend.usage.day_limits import DayLimits, refuse, refuse_team
from backend.usage.day_rows import find_all_limits, find_limits, team_limits_of
from backend.usage.ledger import Used, used_today, used_today_by_teams
from backend.usage.spent import Spent
from db.session import Database

COUNT_SECONDS = 2.0
USER, TEAM = PrincipalType.USER, PrincipalType.TEAM


@dataclass(frozen=True)
class Payers:
    """Whose budgets a turn uses: its person's, and that of the team that its session belongs to."""

    user_id: str
    team: str | None = None


class DayBudgets:
    """Checks what the page or the settings allow for a day; one per process.

    For steps, everyone's usage and budgets are read together once in COUNT_SECONDS; in between,
    usage by this process is added. Deleting sessions frees nothing: the ledger outlives them.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = DayLimits.of(settings)
        self._lock = threading.Lock()
        self._limits: Mapping[tuple[str, str], DayLimits] = {}
        self._names: Mapping[str, str] = {}
        self._used: dict[tuple[str, str], Used] = {}
        self._counted_at = float("-inf")

    def check(self, session: Session, user_id: str) -> None:
        """Raise TokensUsedUp or BudgetUsedUp if a person has used up the day's budget."""
        found = find_limits(session, [(USER, user_id)])
        limits = found.get((USER, user_id), self._settings)
        if limits.are_set:
            refuse(limits, used_today(session, [user_id]).get(user_id, Used()))

    def check_team(self, session: Session, conversation_id: UUID) -> None:
        """Do the same for the team that a conversation belongs to, if any."""
        if found := team_limits_of(session, conversation_id):
            used = used_today_by_teams(session, [found.team_id])
            refuse_team(found.name, found.limits, used.get(found.team_id, Used()))

    def check_step(self, database: Database, payers: Payers) -> None:
        """Do both before each step, without a query for each."""
        if self._is_due():
            self._count(database)
        with self._lock:
            user, team = (USER, payers.user_id), (TEAM, payers.team or "")
            limits = self._limits.get(user, self._settings)
            used = self._used.get(user, Used())
            of_team, used_by_team = self._limits.get(team), self._used.get(team, Used())
            name = self._names.get(payers.team or "", "")
        refuse(limits, used)
        if of_team is not None:
            refuse_team(name, of_team, used_by_team)

    def count(self, payers: Payers, before: Spent, after: Spent) -> None:
        """Add the usage of a step of this process."""
        was, now = Used.of(before.total), Used.of(after.total)
        step = Used(now.tokens - was.tokens, now.cost - was.cost)
        with self._lock:
            if not self._settings.are_set and not self._limits:
                return
            for payer in ((USER, payers.user_id), (TEAM, payers.team or "")):
                self._used[payer] = self._used.get(payer, Used()) + step

    def _count(self, database: Database) -> None:
        """Read all budgets, and what was used of them today."""
        used: dict[tuple[str, str], Used] = {}
        with database.read() as session:
            found = find_all_limits(session)
            teams = [one for kind, one in found.limits if kind == TEAM]
            people = [one for kind, one in found.limits if kind == USER]
            if self._settings.are_set or people:
                counted = used_today(session, None if self._settings.are_set else people)
                used |= {(USER, one): of_one for one, of_one in counted.items()}
            if teams:
                by_team = used_today_by_teams(session, teams)
                used |= {(TEAM, one): of_one for one, of_one in by_team.items()}
        with self._lock:
            self._limits, self._names, self._used = found.limits, found.team_names, used

    def _is_due(self) -> bool:
        """Return whether this thread should count; others continue with the previous count."""
        with self._lock:
            now = time.monotonic()
            if now - self._counted_at <= COUNT_SECONDS:
                return False
            self._counted_at = now
            return True
