"""The wording for usage and budgets. Pure."""

from collections.abc import Sequence
from math import floor, log10

from backend.schemas.conversations.turns import Usage
from backend.schemas.people.rights import PrincipalType
from backend.schemas.usage import Budget, BudgetKind, DayBudget
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

BUDGETS = {
    BudgetKind.SESSION_TOKENS: "This session",
    BudgetKind.SESSION_COST: "This session",
    BudgetKind.DOMAIN_TOKENS: "This month, all sessions of the domain",
    BudgetKind.DOMAIN_COST: "This month, all sessions of the domain",
    BudgetKind.DAY_TOKENS: "Today",
    BudgetKind.DAY_COST: "Today",
}
TOKEN_KINDS = (BudgetKind.SESSION_TOKENS, BudgetKind.DOMAIN_TOKENS, BudgetKind.DAY_TOKENS)


def cost(amount: float) -> str:
    """Return a cost with two decimals, or with those of its first two digits: 12.50, 0.0031."""
    return reader.number(amount, max(2, 1 - floor(log10(amount))) if amount else 2)


def usage(used: Usage) -> str:
    """Return e.g. 1,234 tokens in (1,000 cached), 56 out · 3 model calls · cost 0.0031."""
    calls = reader.counted(used.model_calls, "model call")
    if used.is_unreported:
        return f"Tokens not reported · {calls}"
    cached = f" ({reader.number(used.cached_tokens)} cached)" if used.cached_tokens else ""
    thought = reader.number(used.reasoning_tokens)
    reasoning = f" ({thought} thinking)" if used.reasoning_tokens else ""
    came, went = reader.number(used.input_tokens), reader.number(used.output_tokens)
    parts = [
        f"{came} tokens in{cached}, {went} out{reasoning}",
        calls,
    ]
    if used.cost:
        parts.append(f"cost {cost(used.cost)}")
    return " · ".join(parts)


def unreported(models: Sequence[str]) -> str:
    """Return, as Markdown, that these models' tokens are unknown."""
    return (
        f"The endpoint of {plain(', '.join(models), 300)} reports no tokens. What it uses counts as"
        " 0, also towards budgets."
    )


def budget(one: Budget) -> str:
    """Return e.g. This session: 1,200 of 5,000 tokens."""
    return f"{BUDGETS[one.kind]}: {_part(one)}"


def day_budget(one: DayBudget) -> str:
    """Return e.g. You, today: 1,200 of 5,000 tokens."""
    return f"{_whose(one)}, today: {_part(one)}"


def low_budget(one: DayBudget) -> str:
    """Return, as Markdown, that a budget of today is nearly used up, or is, and when it renews."""
    state = "used up" if not one.left else f"{reader.number(floor(100 * share(one)))} % used"
    whose = "Your budget" if _is_own(one) else f"The budget of the team {plain(one.name, 60)}"
    renews = reader.moment(one.renews_at)
    return f"{whose} for today is {state}: {_part(one)}. It renews at {renews}."


def _is_own(one: DayBudget) -> bool:
    return one.principal_type is PrincipalType.USER


def _whose(one: DayBudget) -> str:
    return "You" if _is_own(one) else f"Team {plain(one.name, 60)}"


def _part(one: Budget) -> str:
    if one.kind in TOKEN_KINDS:
        return f"{reader.number(one.used)} of {reader.number(one.limit)} tokens"
    return f"cost {cost(one.used)} of {cost(one.limit)}"


def share(one: Budget) -> float:
    """Return the used share of a budget: 0 to 1."""
    return min(one.used / one.limit, 1.0)
