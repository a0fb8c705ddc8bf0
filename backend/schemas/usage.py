"""The wire contract of usage: what was used, what it cost, and what is left of budgets."""

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.turns import Route, Usage
from backend.schemas.wire import Wire


class BudgetKind(StrEnum):
    """What a budget counts: tokens, in and out together, or cost; of a session or a month."""

    SESSION_TOKENS = "session_tokens"
    SESSION_COST = "session_cost"
    DOMAIN_TOKENS = "domain_tokens_per_month"
    DOMAIN_COST = "domain_cost_per_month"


class Budget(Wire):
    """How much of a budget is used. Whoever has used it up is stopped before the next call."""

    kind: BudgetKind
    limit: float
    used: float
    left: float


class ModelUsage(Usage):
    """What was used of one model. `has_price`: MODEL_PRICES of the settings names it."""

    model: str
    has_price: bool


class UsageOfTurn(Wire):
    """What one turn has used. `seconds`: from its first step to its end, waiting for people too."""

    turn_id: UUID
    message: str
    usage: Usage
    seconds: float | None


class TurnFigures(Wire):
    """What a finished turn has used, when it ended, and how long it took from its first step."""

    turn_id: UUID
    agent: str | None = Field(None, description="The agent that had it at its end.")
    route: Route | None = Field(
        None, description="How it found its agent; null: its domain has no manager."
    )
    model: str | None = Field(None, description="The model that has answered; null: none has.")
    usage: Usage
    seconds: float | None
    finished_at: datetime


class TurnFiguresList(Wire):
    """The figures of those turns that are finished."""

    items: list[TurnFigures]


class SessionUsage(Wire):
    """What all turns of a session have used, also those on other branches; the latest first."""

    session_id: UUID
    turns: int
    total: Usage
    models: list[ModelUsage]
    budgets: list[Budget]
    latest: list[UsageOfTurn]


class UsageBy(StrEnum):
    """By what usage is summed."""

    DAY = "day"
    OWNER = "owner"
    DOMAIN = "domain"
    MODEL = "model"


class UsageRow(Usage):
    """What was used by or of `key`: a day, a person, a domain or a model."""

    key: str
    turns: int


class UsageOfDay(Wire):
    """One day's tokens, in and out together, and their cost."""

    day: date
    tokens: int
    cost: float


class DomainBudgets(Wire):
    """What a domain has used of its budgets of this month."""

    domain: str
    budgets: list[Budget]


class UsageReport(Wire):
    """What was used since a day (UTC), that day included, by whom the caller may see.

    Turns that have not ended count as of today.
    """

    since: date
    until: date
    by: UsageBy
    items: list[UsageRow]
    total: UsageRow
    days: list[UsageOfDay]
    unpriced: list[str] = Field(description="Models that MODEL_PRICES does not name: cost 0.")
    domains: list[DomainBudgets] = Field(description="For administrators; else empty.")
