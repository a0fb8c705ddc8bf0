"""Budgets of a session and of a domain's month: what has used one up ends with a sentence."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy.orm import Session

from backend.errors.budgets import DomainBudgetUsedUp, SessionBudgetUsedUp
from backend.schemas.domains.templates import Limits
from backend.schemas.usage import Budget, BudgetKind
from backend.usage.ledger import Used, used_this_month


def session_budgets(limits: Limits, used: Used) -> list[Budget]:
    """Return what a session may use in all, as far as its limits say so."""
    return _budgets(
        (BudgetKind.SESSION_TOKENS, limits.conversation_tokens, used.tokens),
        (BudgetKind.SESSION_COST, limits.conversation_cost, used.cost),
    )


def domain_budgets(limits: Limits, used: Used) -> list[Budget]:
    """Return what all sessions of a domain may use in a month, as far as the limits say so."""
    return _budgets(
        (BudgetKind.DOMAIN_TOKENS, limits.domain_tokens_per_month, used.tokens),
        (BudgetKind.DOMAIN_COST, limits.domain_cost_per_month, used.cost),
    )


def has_domain_budget(limits: Limits) -> bool:
    """Return whether there is a month's use to be counted."""
    return bool(limits.domain_tokens_per_month or limits.domain_cost_per_month)


@dataclass(frozen=True)
class Budgets:
    """The budgets that one turn works under. `before`: what the session's other turns have used."""

    limits: Limits
    domain_name: str
    before: Used

    def check_session(self, used: Used) -> None:
        """Raise SessionBudgetUsedUp when this turn and those before have used it up."""
        for budget in session_budgets(self.limits, self.before + used):
            if not budget.left:
                raise SessionBudgetUsedUp(
                    f"This session has used {_share(budget)} that its domain allows for one"
                    " session. Continue in a new session: it begins with a new budget."
                )

    def check_domain(self, session: Session) -> None:
        """Raise DomainBudgetUsedUp when the month's is used up; asks only where there is one."""
        if not has_domain_budget(self.limits):
            return
        used = used_this_month(session, self.domain_name).get(self.domain_name, Used())
        for budget in domain_budgets(self.limits, used):
            if not budget.left:
                raise DomainBudgetUsedUp(
                    f"All sessions of the domain {self.domain_name} have used {_share(budget)} that"
                    f" it allows for a month. Go on from {next_month():%-d %B} (UTC), or ask an"
                    " administrator for a higher limit and begin a new session."
                )


def next_month(today: date | None = None) -> date:
    """Return the day on which the month's budgets begin anew."""
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
