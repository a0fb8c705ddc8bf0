"""The usage ledger, by day, owner, team, domain and model; it outlives conversations.

A turn is entered when it ends; until then its usage is in its own row. Queries count both in one
statement, so that nothing is missed or counted twice while a turn ends.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Date,
    Float,
    ScalarSelect,
    Select,
    cast,
    func,
    literal,
    select,
    text,
    union_all,
)
from sqlalchemy.orm import Session, aliased

from backend.schemas.conversations.turns import Usage
from backend.usage.spent import UNKNOWN, Spent
from db.models.conversations.conversation import ConversationRow
from db.models.domains.domain import DomainRow
from db.models.turns.turn import UNFINISHED, TurnRow
from db.models.usage_day import UsageDayRow

COUNTED = tuple(Usage.model_fields)
NO_DOMAIN = UUID(int=0)
NO_TEAM = ""


@dataclass(frozen=True)
class Used:
    """What budgets count: input and output tokens together, and their cost."""

    tokens: int = 0
    cost: float = 0.0

    @classmethod
    def of(cls, usage: Usage) -> "Used":
        """Return both from a turn's usage."""
        return cls(usage.input_tokens + usage.output_tokens, usage.cost)

    def __add__(self, other: "Used") -> "Used":
        return Used(self.tokens + other.tokens, self.cost + other.cost)


@dataclass(frozen=True)
class SessionDomain:
    """The domain that a session's usage counts for; `id` is None once the domain was deleted."""

    id: UUID | None
    name: str


def record_usage(
    session: Session,
    owner_id: str,
    domain: SessionDomain,
    spent: Spent,
    *,
    team: str | None,
    turns: int = 1,
) -> None:
    """Add usage to today's rows; a turn counts for the model that it asked most.

    `team`: the team that the conversation belongs to, if any.

    Many turns share a row, which stays locked until the commit: so call this last.
    """
    for model in sorted(spent.by_model):
        row = {
            "owner_id": owner_id,
            "team": team or NO_TEAM,
            "domain_id": domain.id or NO_DOMAIN,
            "domain_name": domain.name,
            "model": model,
            "turns": turns if model == spent.main else 0,
            **spent.by_model[model].model_dump(),
        }
        session.execute(_PUT_DOWN, row)


def keep_last_name(session: Session, domain_id: UUID, name: str) -> None:
    """Put the usage of a domain that is being deleted under its last name.

    Rows that have it already stay locked until the commit: so call this last.
    """
    session.execute(_RENAME, {"domain_id": domain_id, "name": name})


def hold_unfinished(session: Session, conversation_id: UUID) -> Sequence[tuple[str, Spent]]:
    """Lock a conversation's unfinished turns; return their owners and what they have spent."""
    rows = session.execute(
        select(TurnRow.owner_id, TurnRow.usage)
        .where(TurnRow.conversation_id == conversation_id, text(UNFINISHED))
        .order_by(TurnRow.number)
        .with_for_update()
    )
    return [(owner, Spent.read(usage)) for owner, usage in rows]


def used_today(session: Session, owner_ids: Collection[str] | None = None) -> dict[str, Used]:
    """Return today's usage (UTC) by person, or of these, including unfinished turns."""
    ledger = _ledger(UsageDayRow.owner_id).where(UsageDayRow.day == TODAY)
    unfinished = _unfinished(TurnRow.owner_id)
    if owner_ids is not None:
        ledger = ledger.where(UsageDayRow.owner_id.in_(owner_ids))
        unfinished = unfinished.where(TurnRow.owner_id.in_(owner_ids))
    return _sums(session, ledger, unfinished)


def used_today_by_teams(session: Session, team_ids: Collection[str]) -> dict[str, Used]:
    """Return today's usage (UTC) of these teams' conversations, including unfinished turns."""
    ledger = _ledger(UsageDayRow.team).where(
        UsageDayRow.day == TODAY, UsageDayRow.team.in_(team_ids)
    )
    unfinished = (
        _unfinished(ConversationRow.team)
        .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
        .where(ConversationRow.team.in_(team_ids))
    )
    return _sums(session, ledger, unfinished)


def used_this_month(session: Session, domain: SessionDomain) -> Used:
    """Return a domain's usage of this month (UTC), including unfinished turns.

    Deleted domains are told apart by their names.
    """
    ledger, unfinished = _this_month()
    ledger = ledger.where(_is_of(UsageDayRow, domain))
    unfinished = unfinished.where(_is_of(ConversationRow, domain))
    return sum(_sums(session, ledger, unfinished).values(), Used())


def used_by_domain(session: Session) -> dict[UUID, Used]:
    """Return this month's usage (UTC) by the domain's id, including unfinished turns."""
    return _sums(session, *_this_month())


def used_in_session(session: Session, conversation_id: UUID) -> Used:
    """Return the usage of a conversation's turns and its tasks' turns.

    For a task's conversation it is the same: everything of the one that it belongs to.
    """
    row = session.execute(
        select(func.sum(_tokens()), func.sum(used_in_turn("cost"))).where(
            TurnRow.conversation_id.in_(whole_of(conversation_id))
        )
    ).one()
    return Used(int(row[0] or 0), row[1] or 0.0)


def whole_of(conversation_id: UUID) -> Select[UUID]:
    """Return the ids of a conversation and its tasks' conversations; the same for a task's."""
    one = aliased(ConversationRow)
    root = select(func.coalesce(one.parent_id, one.id)).where(one.id == conversation_id)
    return with_tasks(root.scalar_subquery())


def with_tasks(conversation_id: UUID | ScalarSelect[UUID]) -> Select[UUID]:
    """Return the ids of a conversation and its tasks' conversations; a task's has none."""
    one = aliased(ConversationRow)
    return select(one.id).where((one.id == conversation_id) | (one.parent_id == conversation_id))


@dataclass(frozen=True)
class UsageFilter:
    """Whose usage is counted, in whose sessions, of which domain (by name) and model; None: all."""

    owner_id: str | None = None
    team: str | None = None
    domain: str | None = None
    model: str | None = None

    @property
    def values(self) -> dict[str, str]:
        """Return what is asked for, by the column of `entries`."""
        found = {
            "owner_id": self.owner_id,
            "team": self.team,
            "domain_name": self.domain,
            "model": self.model,
        }
        return {name: value for name, value in found.items() if value is not None}


EVERYTHING = UsageFilter()


def entries(since: ColumnElement[Any], wanted: UsageFilter) -> Select[Any]:
    """Return the ledger's rows since a day, plus unfinished turns as if ended; with COUNTED.

    An unfinished turn counts entirely for the model that it asked most. A renamed domain has its
    new name on all days.
    """
    ledger = (
        select(
            UsageDayRow.day,
            UsageDayRow.owner_id,
            UsageDayRow.team,
            func.coalesce(DomainRow.name, UsageDayRow.domain_name).label("domain_name"),
            UsageDayRow.model,
            *(getattr(UsageDayRow, name) for name in ("turns", *COUNTED)),
        )
        .outerjoin(DomainRow, DomainRow.id == UsageDayRow.domain_id)
        .where(UsageDayRow.day >= since)
    )
    unfinished = (
        select(
            TODAY,
            TurnRow.owner_id,
            func.coalesce(ConversationRow.team, NO_TEAM),
            ConversationRow.domain_name,
            func.coalesce(TurnRow.usage["model"].as_string(), UNKNOWN),
            literal(1),
            *(used_in_turn(name) for name in COUNTED),
        )
        .join(ConversationRow, ConversationRow.id == TurnRow.conversation_id)
        .where(text(UNFINISHED), used_in_turn("model_calls") > 0)
    )
    both = union_all(ledger, unfinished).subquery()
    return select(both).where(*(both.c[name] == one for name, one in wanted.values.items()))


def used_in_turn(name: str) -> ColumnElement[Any]:
    """Return a figure of a turn's usage, as SQL."""
    kind = Float if name == "cost" else BigInteger
    return cast(func.coalesce(TurnRow.usage[name].as_string(), "0"), kind)


def _tokens() -> ColumnElement[Any]:
    return used_in_turn("input_tokens") + used_in_turn("output_tokens")


def _this_month() -> tuple[Select[Any], Select[Any]]:
    """Return the month's rows of the ledger, and the unfinished turns, by their domain's id."""
    ledger = _ledger(UsageDayRow.domain_id).where(UsageDayRow.day >= MONTH_START)
    unfinished = _unfinished(ConversationRow.domain_id).join(
        ConversationRow, ConversationRow.id == TurnRow.conversation_id
    )
    return ledger, unfinished


def _is_of(
    row: type[UsageDayRow] | type[ConversationRow], domain: SessionDomain
) -> ColumnElement[bool]:
    if domain.id is not None:
        return row.domain_id == domain.id
    exists = select(DomainRow.id).where(DomainRow.id == row.domain_id).exists()
    return (row.domain_name == domain.name) & ~exists


def _ledger(key: Any) -> Select[Any]:
    tokens = UsageDayRow.input_tokens + UsageDayRow.output_tokens
    return select(key.label("key"), tokens.label("tokens"), UsageDayRow.cost.label("cost"))


def _unfinished(key: Any) -> Select[Any]:
    return select(key, _tokens(), used_in_turn("cost")).where(text(UNFINISHED))


def _sums(session: Session, ledger: Select[Any], unfinished: Select[Any]) -> dict[Any, Used]:
    both = union_all(ledger, unfinished).subquery()
    rows = session.execute(
        select(both.c.key, func.sum(both.c.tokens), func.sum(both.c.cost)).group_by(both.c.key)
    )
    return {key: Used(int(tokens), cost) for key, tokens, cost in rows}


# Connections use UTC.
TODAY: ColumnElement[Any] = cast(func.clock_timestamp(), Date)
MONTH_START: ColumnElement[Any] = cast(func.date_trunc("month", func.clock_timestamp()), Date)
_NAMES = ("turns", *COUNTED)
_KEY = "day, owner_id, team, domain_id, domain_name, model"
_INTO = f"INSERT INTO usage_days ({_KEY}, {', '.join(_NAMES)})"
_ADD = f" ON CONFLICT ({_KEY}) DO UPDATE SET " + ", ".join(
    f"{name} = usage_days.{name} + excluded.{name}" for name in _NAMES
)
_PUT_DOWN = text(
    f"{_INTO} VALUES (clock_timestamp()::date, :owner_id, :team, :domain_id, :domain_name, :model,"
    f" :{', :'.join(_NAMES)})" + _ADD
)
_RENAME = text(
    "WITH moved AS (DELETE FROM usage_days"  # noqa: S608  (constants)
    " WHERE domain_id = :domain_id AND domain_name <> :name RETURNING *)"
    f" {_INTO} SELECT day, owner_id, team, domain_id, :name, model,"
    f" {', '.join(f'sum({n})' for n in _NAMES)} FROM moved"
    " GROUP BY day, owner_id, team, domain_id, model ORDER BY day, owner_id, team, model" + _ADD
)
