"""The usage part of the fake API."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from uuid import UUID

from fastapi import FastAPI

from backend.schemas.conversations.turns import Usage
from backend.schemas.usage import (
    Budget,
    DomainBudgets,
    ModelUsage,
    SessionUsage,
    TurnFigures,
    TurnFiguresList,
    UsageBy,
    UsageOfDay,
    UsageReport,
    UsageRow,
)

TODAY = date(2026, 3, 31)


@dataclass
class FakeUsage:
    """What the fake says was used; `asked` is for how many days and by what."""

    rows: list[UsageRow] = field(default_factory=list)
    unpriced: list[str] = field(default_factory=list)
    unreported: list[str] = field(default_factory=list)
    domains: list[DomainBudgets] = field(default_factory=list)
    figures: list[TurnFigures] = field(default_factory=list)
    models: list[ModelUsage] = field(default_factory=list)
    budgets: list[Budget] = field(default_factory=list)
    asked: list[tuple[int, UsageBy]] = field(default_factory=list)


def add_usage_routes(app: FastAPI, used: FakeUsage, api: str) -> None:
    @app.get(f"{api}/usage")
    def usage(days: int = 30, by: UsageBy = UsageBy.DAY) -> UsageReport:
        used.asked.append((days, by))
        figures = [name for name in UsageRow.model_fields if name not in ("key", "name")]
        total = {name: sum(getattr(row, name) for row in used.rows) for name in figures}
        return UsageReport(
            since=TODAY - timedelta(days - 1), until=TODAY, by=by, items=used.rows,
            total=UsageRow(key="total", name="total", **total),
            days=[UsageOfDay(day=TODAY, tokens=1200, cost=total["cost"])],
            unpriced=used.unpriced, unreported=used.unreported, domains=used.domains,
        )  # fmt: skip

    @app.get(f"{api}/sessions/{{session_id}}/usage")
    def session_usage(session_id: UUID) -> SessionUsage:
        figures = {
            name: sum(getattr(model, name) for model in used.models) for name in Usage.model_fields
        }
        return SessionUsage(
            session_id=session_id, turns=len(used.models), total=Usage(**figures),
            models=used.models, budgets=used.budgets, latest=[],
        )  # fmt: skip

    @app.get(f"{api}/sessions/{{session_id}}/usage/turns")
    def turn_figures(session_id: UUID, ids: str) -> TurnFiguresList:
        asked = ids.split(",")
        return TurnFiguresList(items=[one for one in used.figures if str(one.turn_id) in asked])
