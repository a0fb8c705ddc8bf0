"""The wire contract of usage: tokens, their cost, and what is left of budgets."""

from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.conversations.feedback import Feedback
from backend.schemas.conversations.turns import Route, Usage
from backend.schemas.people.rights import PrincipalType
from backend.schemas.wire import Input, Wire

MAX_TOKENS_PER_DAY = 10**15


class BudgetKind(StrEnum):
    """What a budget counts: tokens (input and output) or cost, per session, month or day."""

    SESSION_TOKENS = "session_tokens"
    SESSION_COST = "session_cost"
    DOMAIN_TOKENS = "domain_tokens_per_month"
    DOMAIN_COST = "domain_cost_per_month"
    DAY_TOKENS = "tokens_per_day"
    DAY_COST = "cost_per_day"


class Budget(Wire):
    """How much of a budget is used. Once it is used up, no further model call is made."""

    kind: BudgetKind
    limit: float
    used: float
    left: float


class DayBudget(Budget):
    """A budget of today, of one person or one team."""

    principal_type: PrincipalType
    principal_id: str
    name: str = Field(description="Of the person or the team.")
    is_low: bool = Field(description="At least 80 % of it are used.")
    renews_at: datetime


class DayBudgetInput(Input):
    """What a person or a team may use in a day (UTC). null: unlimited."""

    tokens: int | None = Field(None, ge=1, le=MAX_TOKENS_PER_DAY)
    cost: float | None = Field(None, gt=0, le=1e12)


class SetBudget(Wire):
    """A budget that is set for a person or a team, and what is used of it today."""

    principal_type: PrincipalType
    principal_id: str
    name: str = Field(description="Of the person or the team.")
    tokens: int | None
    cost: float | None
    used_tokens: int
    used_cost: float


class Budgets(Wire):
    """The budgets of people and teams; `default` holds for each person without one."""

    items: list[SetBudget]
    default: DayBudgetInput


class OwnUsage(Wire):
    """What the caller has used today (UTC), and the daily budgets that their turns use."""

    tokens: int
    cost: float
    budgets: list[DayBudget]
    renews_at: datetime


class ModelUsage(Usage):
    """The usage of one model. `has_price`: a price is set for it."""

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
    TEAM = "team"
    DOMAIN = "domain"
    MODEL = "model"


class UsageRow(Usage):
    """The usage of one `key`: a day, a person, a team, a domain or a model.

    `name`: how people call it. Sessions of no team have the empty key.
    """

    key: str
    name: str
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


class Named(Wire):
    """A person, team, domain or model that has usage."""

    key: str
    name: str


class UsageChoices(Wire):
    """What has usage in a period that the caller may see, by name: what reports filter by."""

    people: list[Named]
    teams: list[Named]
    domains: list[Named]
    models: list[Named]


class UsageReport(Wire):
    """Usage since a day (UTC), inclusive, by everyone the caller may see and the filter matches.

    Turns that have not ended count towards today.
    """

    since: date
    until: date
    by: UsageBy
    items: list[UsageRow]
    total: UsageRow
    days: list[UsageOfDay]
    unpriced: list[str] = Field(description="Models without a price: what they use now costs 0.")
    unreported: list[str] = Field(
        description="Models whose endpoint reports no tokens: what they use counts as 0."
    )
    domains: list[DomainBudgets] = Field(
        description="For administrators; otherwise empty, as with a filter by anything but domain."
    )
