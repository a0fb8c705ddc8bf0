"""The wire contract of usage: tokens, their cost, and what is left of budgets."""

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.feedback import Feedback
from backend.schemas.conversations.turns import Route, Usage
from backend.schemas.wire import Wire


class BudgetKind(StrEnum):
    """What a budget counts: tokens (input and output) or cost, per session or per month."""

    SESSION_TOKENS = "session_tokens"
    SESSION_COST = "session_cost"
    DOMAIN_TOKENS = "domain_tokens_per_month"
    DOMAIN_COST = "domain_cost_per_month"


class Budget(Wire):
    """How much of a budget is used. Once it is used up, no further model call is made."""

    kind: BudgetKind
    limit: float
    used: float
    left: float


class ModelUsage(Usage):
    """The usage of one model. `has_price`: MODEL_PRICES lists it."""

    model: str
    has_price: bool


class UsageOfTurn(Wire):
    """The usage of one turn. `seconds`: from its first step to its end, with waits for people."""

    turn_id: UUID
    message: str
    usage: Usage
    seconds: float | None


class TurnFigures(Wire):
    """A finished turn's usage, when it ended, how long it took, and what the caller thinks of it.

    `seconds`: from its first step.
    """

    turn_id: UUID
    agent: str | None = Field(None, description="The agent that had it at the end.")
    route: Route | None = Field(
        None, description="How its agent was chosen; null: its domain has no manager."
    )
    model: str | None = Field(None, description="The model that answered; null: none did.")
    usage: Usage
    seconds: float | None
    finished_at: datetime
    feedback: Feedback | None = Field(None, description="The caller's own.")


class TurnFiguresList(Wire):
    """The figures of finished turns."""

    items: list[TurnFigures]


class SessionUsage(Wire):
    """The usage of all turns of a session and its tasks, on every branch; latest turns first.

    The budgets of a task's session are those of the session that it belongs to.
    """

    session_id: UUID
    turns: int
    total: Usage
    models: list[ModelUsage]
    budgets: list[Budget]
    latest: list[UsageOfTurn]


class UsageBy(StrEnum):
    """How usage is grouped."""

    DAY = "day"
    OWNER = "owner"
    DOMAIN = "domain"
    MODEL = "model"


class UsageRow(Usage):
    """The usage of one `key`: a day, a person, a domain or a model."""

    key: str
    turns: int


class UsageOfDay(Wire):
    """One day's tokens (input and output) and their cost."""

    day: date
    tokens: int
    cost: float


class DomainBudgets(Wire):
    """How much of this month's budgets a domain has used."""

    domain: str
    budgets: list[Budget]


class UsageReport(Wire):
    """Usage since a day (UTC), inclusive, by everyone the caller may see.

    Turns that have not ended count towards today.
    """

    since: date
    until: date
    by: UsageBy
    items: list[UsageRow]
    total: UsageRow
    days: list[UsageOfDay]
    unpriced: list[str] = Field(
        description="Models missing from MODEL_PRICES: what they use now costs 0."
    )
    unreported: list[str] = Field(
        description="Models whose endpoint reports no tokens: what they use counts as 0."
    )
    domains: list[DomainBudgets] = Field(description="For administrators; otherwise empty.")
