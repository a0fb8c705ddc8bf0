"""Usage reports: of one session, and by day, owner, team, domain or model."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, literal, select
from sqlalchemy.orm import Session

from backend.auth.acting import as_system
from backend.auth.scope import Scope
from backend.connections.prices import prices_of
from backend.conversations import service as conversations
from backend.domains.template import template_of
from backend.schemas.conversations.feedback import Feedback
from backend.schemas.conversations.turns import Route, Usage
from backend.schemas.domains.templates import Limits
from backend.schemas.people.rights import Permission
from backend.schemas.usage import (
    Budget,
    DomainBudgets,
    ModelUsage,
    Named,
    SessionUsage,
    TurnFigures,
    UsageBy,
    UsageChoices,
    UsageOfDay,
    UsageOfTurn,
    UsageReport,
    UsageRow,
)
from backend.settings import Settings
from backend.types import JSON
from backend.usage.budgets import domain_budgets, has_domain_budget, session_budgets
from backend.usage.ledger import (
    COUNTED,
    EVERYTHING,
    TODAY,
    SessionDomain,
    UsageFilter,
    Used,
    entries,
    used_by_domain,
    used_in_session,
    used_in_turn,
    used_this_month,
    with_tasks,
)
from backend.usage.spent import UNKNOWN, Spent
from db.models.domains.domain import DomainRow
from db.models.people.user import TeamRow, UserRow
from db.models.turns.feedback import FeedbackRow
from db.models.turns.turn import TurnRow

COLUMNS: Mapping[UsageBy, str] = {
    UsageBy.DAY: "day",
    UsageBy.OWNER: "owner_id",
    UsageBy.TEAM: "team",
    UsageBy.DOMAIN: "domain_name",
    UsageBy.MODEL: "model",
}
_NAMED: Mapping[UsageBy, type[UserRow] | type[TeamRow]] = {
    UsageBy.OWNER: UserRow,
    UsageBy.TEAM: TeamRow,
}
TOTAL = "total"
LATEST = 10
MESSAGE_CHARS = 80


def session_usage(
    session: Session, settings: Settings, scope: Scope, conversation_id: UUID
) -> SessionUsage:
    """Return the usage of a session and its tasks, and what is left of its budgets.

    The budgets of a task's session are those of the one that it belongs to.
    Raise SessionNotFound.
    """
    found = conversations.get(session, scope, conversation_id)
    limits = template_of(conversations.get_image(session, scope, conversation_id)).limits
    is_counted = TurnRow.conversation_id.in_(with_tasks(conversation_id))
    stored = session.scalars(select(TurnRow.usage).where(is_counted))
    turns, spent = 0, Spent()
    for usage in stored:
        one = Spent.read(usage)
        turns += one.main is not None
        spent = spent.with_more(one)
    budgets = session_budgets(limits, used_in_session(session, conversation_id))
    domain = SessionDomain(found.domain_id, found.domain)
    prices = prices_of(session, settings)
    return SessionUsage(
        session_id=conversation_id,
        turns=turns,
        total=spent.total,
        models=[
            ModelUsage(model=name, has_price=name in prices, **used.model_dump())
            for name, used in spent.by_model.items()
        ],
        budgets=[*budgets, *_month_of(session, domain, limits)],
        latest=_latest(session, is_counted),
    )


def turn_figures(
    session: Session, scope: Scope, conversation_id: UUID, turn_ids: Sequence[UUID]
) -> list[TurnFigures]:
    """Return the figures of a session's finished turns. Raise SessionNotFound."""
    conversations.check_visible(session, scope, conversation_id)
    row = FeedbackRow
    own = (row.turn_id == TurnRow.id) & (row.user_id == scope.user_id)
    rows = session.execute(
        select(
            TurnRow.id,
            TurnRow.agent,
            TurnRow.route,
            TurnRow.model,
            TurnRow.usage,
            TurnRow.started_at,
            TurnRow.finished_at,
            row.rating,
            row.comment,
            row.created_at,
        )
        .outerjoin(row, own)
        .where(TurnRow.conversation_id == conversation_id)
        .where(TurnRow.id.in_(turn_ids), TurnRow.finished_at.is_not(None))
        .order_by(TurnRow.number)
    )
    return [
        TurnFigures(
            turn_id=row.id,
            agent=row.agent,
            route=Route.read(row.route) if row.route else None,
            model=_answering_model(row.model, row.usage),
            usage=Usage.read(row.usage),
            seconds=(row.finished_at - row.started_at).total_seconds() if row.started_at else None,
            finished_at=row.finished_at,
            feedback=_feedback(row) if row.rating else None,
        )
        for row in rows
    ]


def _feedback(row: Any) -> Feedback:
    return Feedback(rating=row.rating, comment=row.comment, created_at=row.created_at)


def _answering_model(chosen: str | None, usage: JSON) -> str | None:
    """Return the chosen model if it was asked, else the one that wrote most of the turn.

    A title or summary may be by another model, as may the answer after a fallback.
    """
    by_model = Spent.read(usage).by_model
    if chosen in by_model:
        return chosen
    return max(by_model, key=lambda name: by_model[name].output_tokens, default=None)


def report_usage(
    session: Session,
    settings: Settings,
    scope: Scope,
    *,
    days: int,
    by: UsageBy,
    wanted: UsageFilter = EVERYTHING,
) -> UsageReport:
    """Return the usage of the last `days` days, with today: everyone's for admins.

    `wanted` narrows it; for others than admins, another person has no usage.
    """
    today = session.scalars(select(TODAY)).one()
    since = today - timedelta(days=days - 1)
    found = _seen(scope, literal(since), wanted)
    models = _sums(session, found, COLUMNS[UsageBy.MODEL])
    prices = prices_of(session, settings)
    names = _names(session, by)
    return UsageReport(
        since=since,
        until=today,
        by=by,
        items=_in_order(_sums(session, found, COLUMNS[by], names), by),
        total=_total(session, found),
        days=[
            UsageOfDay(day=row.key, tokens=row.input_tokens + row.output_tokens, cost=row.cost)
            for row in _in_order(_sums(session, found, COLUMNS[UsageBy.DAY]), UsageBy.DAY)
        ],
        unpriced=sorted(row.key for row in models if row.key not in prices and row.key != UNKNOWN),
        unreported=sorted(row.key for row in models if row.is_unreported),
        domains=_domains(session, wanted) if scope.has(Permission.SEE_ALL_USAGE) else [],
    )


def list_choices(session: Session, scope: Scope, *, days: int) -> UsageChoices:
    """Return the people, teams, domains and models with usage that the caller may see."""
    since = session.scalars(select(TODAY)).one() - timedelta(days=days - 1)
    rows = _seen(scope, literal(since), EVERYTHING).subquery()

    def named(by: UsageBy) -> list[Named]:
        names = _names(session, by)
        keys = session.scalars(select(rows.c[COLUMNS[by]]).distinct())
        found = [Named(key=key, name=names.get(key, key)) for key in keys if key]
        return sorted(found, key=lambda one: (one.name.lower(), one.key))

    return UsageChoices(
        people=named(UsageBy.OWNER),
        teams=named(UsageBy.TEAM),
        domains=named(UsageBy.DOMAIN),
        models=named(UsageBy.MODEL),
    )


def _seen(scope: Scope, since: ColumnElement[Any], wanted: UsageFilter) -> Select[Any]:
    """Return the entries of the ledger that the caller may see, as far as they are wanted."""
    found = entries(since, wanted)
    if scope.has(Permission.SEE_ALL_USAGE):
        return found
    rows = found.subquery()
    return select(rows).where(rows.c.owner_id == scope.user_id)


def _names(session: Session, by: UsageBy) -> Mapping[str, str]:
    """Return what the keys of people and teams are called; other keys are names themselves."""
    row = _NAMED.get(by)
    if row is None:
        return {}
    return dict(session.execute(select(row.id, row.name)).tuples().all())


def _latest(session: Session, is_counted: ColumnElement[bool]) -> list[UsageOfTurn]:
    """Return the latest of these turns that asked a model."""
    rows = session.execute(
        select(
            TurnRow.id,
            func.left(TurnRow.message, MESSAGE_CHARS).label("message"),
            TurnRow.usage,
            TurnRow.started_at,
            TurnRow.finished_at,
        )
        .where(is_counted, used_in_turn("model_calls") > 0)
        .order_by(TurnRow.number.desc())
        .limit(LATEST)
    )
    return [
        UsageOfTurn(
            turn_id=row.id,
            message=row.message,
            usage=Usage.read(row.usage),
            seconds=(row.finished_at - row.started_at).total_seconds() if row.finished_at else None,
        )
        for row in rows
    ]


def _month_of(session: Session, domain: SessionDomain, limits: Limits) -> list[Budget]:
    """Return the monthly budgets that the session's image sets, and what is used of them."""
    if not has_domain_budget(limits):
        return []
    with as_system(session):  # everyone's usage counts
        used = used_this_month(session, domain)
    return domain_budgets(limits, used)


def _sums(
    session: Session,
    found: Select[Any],
    column: str,
    names: Mapping[str, str] = MappingProxyType({}),
) -> list[UsageRow]:
    rows = found.subquery()
    key = rows.c[column]
    summed = session.execute(select(key, *_figures(rows)).group_by(key))
    return [_row(str(key), names.get(str(key), str(key)), figures) for key, *figures in summed]


def _total(session: Session, found: Select[Any]) -> UsageRow:
    return _row(TOTAL, TOTAL, session.execute(select(*_figures(found.subquery()))).one())


def _figures(rows: Any) -> list[Any]:
    return [func.coalesce(func.sum(rows.c[name]), 0) for name in ("turns", *COUNTED)]


def _row(key: str, name: str, figures: Iterable[Any]) -> UsageRow:
    return UsageRow(key=key, name=name, **dict(zip(("turns", *COUNTED), figures, strict=True)))


def _in_order(rows: list[UsageRow], by: UsageBy) -> list[UsageRow]:
    """Sort days by date, all else by cost, then by tokens."""
    if by is UsageBy.DAY:
        return sorted(rows, key=lambda row: row.key)
    return sorted(rows, key=lambda row: (-row.cost, -row.input_tokens - row.output_tokens, row.key))


def _domains(session: Session, wanted: UsageFilter) -> list[DomainBudgets]:
    """Return the domains that have a monthly budget today, which all their sessions share.

    They tell nothing of one person, team or model.
    """
    if wanted.values.keys() - {"domain_name"}:
        return []
    query = select(DomainRow).order_by(DomainRow.name)
    if wanted.domain is not None:
        query = query.where(DomainRow.name == wanted.domain)
    rows = session.scalars(query)
    templates = {row.id: template_of({**row.template, "name": row.name}) for row in rows}
    limited = {key: each for key, each in templates.items() if has_domain_budget(each.limits)}
    used = used_by_domain(session) if limited else {}
    return [
        DomainBudgets(domain=each.name, budgets=domain_budgets(each.limits, used.get(key, Used())))
        for key, each in limited.items()
    ]
