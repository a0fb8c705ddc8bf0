"""What a person or a team may use in a day, and what is said once that is used up. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from backend.errors.budgets import BudgetUsedUp, TokensUsedUp
from backend.schemas.people.rights import PrincipalType
from backend.schemas.usage import BudgetKind, DayBudget
from backend.settings import Settings
from backend.usage.ledger import Used

LOW = 0.8  # the used share from which people are told


@dataclass(frozen=True)
class DayLimits:
    """The tokens and the cost of one day; None: unlimited."""

    tokens: int | None = None
    cost: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> "DayLimits":
        """Return what the settings allow each person without a budget of their own."""
        return cls(settings.user_tokens_per_day or None, settings.user_cost_per_day or None)

    @property
    def are_set(self) -> bool:
        """Return whether anything is limited."""
        return self.tokens is not None or self.cost is not None


def refuse(limits: DayLimits, used: Used) -> None:
    """Raise TokensUsedUp or BudgetUsedUp if a person has used as much as their limits."""
    _refuse("Your budget", "You have", limits, used)


def refuse_team(name: str, limits: DayLimits, used: Used) -> None:
    """Raise TokensUsedUp or BudgetUsedUp if a team's sessions have used as much as its limits."""
    _refuse("Its budget", f"All sessions of the team {name} have", limits, used)


def day_budgets(
    kind: PrincipalType, principal_id: str, name: str, limits: DayLimits, used: Used
) -> Sequence[DayBudget]:
    """Return the budgets that the limits set, and what is left of each."""
    given = (
        (BudgetKind.DAY_TOKENS, limits.tokens, used.tokens),
        (BudgetKind.DAY_COST, limits.cost, used.cost),
    )
    return [
        DayBudget(
            kind=of_kind,
            limit=limit,
            used=spent,
            left=max(limit - spent, 0),
            principal_type=kind,
            principal_id=principal_id,
            name=name,
            is_low=spent >= LOW * limit,
            renews_at=renewal(),
        )
        for of_kind, limit, spent in given
        if limit is not None
    ]


def renewal(now: datetime | None = None) -> datetime:
    """Return when daily budgets begin anew: at the next midnight, UTC."""
    tomorrow = (now or datetime.now(UTC)).astimezone(UTC).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time(), UTC)


def _refuse(whose: str, who_has: str, limits: DayLimits, used: Used) -> None:
    if limits.tokens is not None and used.tokens >= limits.tokens:
        raise TokensUsedUp(_words(whose, who_has, f"{used.tokens:,} of {limits.tokens:,} tokens"))
    if limits.cost is not None and used.cost >= limits.cost:
        raise BudgetUsedUp(
            _words(whose, who_has, f"{used.cost:,.4g} of the cost of {limits.cost:,.4g}")
        )


def _words(whose: str, who_has: str, share: str) -> str:
    return (
        f"{who_has} used {share} for today. {whose} renews at midnight UTC, on"
        f" {renewal():%-d %B}; an administrator can raise it."
    )
