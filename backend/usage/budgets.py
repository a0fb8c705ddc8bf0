"""Budgets of a session and of a domain's month: using one up ends the turn with an explanation."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy.orm import Session

from backend.errors.budgets import DomainBudgetUsedUp, SessionBudgetUsedUp
from backend.schemas.domains.templates import Limits
from backend.schemas.usage import Budget, BudgetKind
from backend.usage.ledger import SessionDomain, Used, used_this_month


def session_budgets(limits: Limits, used: Used) -> list[Budget]:
    """Return a session's budgets, as far as its limits set any."""
    return _budgets(
        (BudgetKind.SESSION_TOKENS, limits.conversation_tokens, used.tokens),
        (BudgetKind.SESSION_COST, limits.conversation_cost, used.cost),
    )


def domain_budgets(limits: Limits, used: Used) -> list[Budget]:
    """Return the monthly budgets of a domain's sessions, as far as the limits set any."""
    return _budgets(
        (BudgetKind.DOMAIN_TOKENS, limits.domain_tokens_per_month, used.tokens),
        (BudgetKind.DOMAIN_COST, limits.domain_cost_per_month, used.cost),
    )


def has_session_budget(limits: Limits) -> bool:
    """Return whether a session's budget is set."""
    return bool(limits.conversation_tokens or limits.conversation_cost)


def has_domain_budget(limits: Limits) -> bool:
    """Return whether a monthly budget is set."""
    return bool(limits.domain_tokens_per_month or limits.domain_cost_per_month)


@dataclass(frozen=True)
class Budgets:
    """The budgets that one turn shares with others."""

    limits: Limits
    domain: SessionDomain
    team: str | None = None  # that its session belongs to

    def check_session(self, used: Used) -> None:
        """Raise SessionBudgetUsedUp if the session, with its tasks, has used it up."""
        for budget in session_budgets(self.limits, used):
            if not budget.left:
                raise SessionBudgetUsedUp(
                    f"This session has used {_share(budget)} that its domain allows for one"
                    " session. Continue in a new session: it begins with a new budget."
                )

    def check_domain(self, session: Session) -> None:
        """Raise DomainBudgetUsedUp if the month's is used up; query only if there is one."""
        if not has_domain_budget(self.limits):
            return
        for budget in domain_budgets(self.limits, used_this_month(session, self.domain)):
            if not budget.left:
                raise DomainBudgetUsedUp(
                    f"All sessions of the domain {self.domain.name} have used {_share(budget)} that"
                    f" it allows for a month. Go on from {next_month():%-d %B} (UTC), or ask an"
                    " administrator for a higher limit and start a new session."
                )


def next_month(today: date | None = None) -> date:
    """Return the day on which monthly budgets reset."""
    today = today or datetime.now(UTC).date()
    return date(today.year + today.month // 12, today.month % 12 + 1, 1)


def _budgets(*given: tuple[BudgetKind, float | None, float]) -> list[Budget]:
    return [
        Budget(kind=kind, limit=limit, used=used, left=max(limit - used, 0))
        for kind, limit, used in given
        if limit is not None
    ]


def _share(budget: Budget) -> str:
    if budget.kind in (BudgetKind.SESSION_TOKENS, BudgetKind.DOMAIN_TOKENS):
        return f"{budget.used:,.0f} of the {budget.limit:,.0f} tokens"
    return f"{budget.used:,.4g} of the cost of {budget.limit:,.4g}"
