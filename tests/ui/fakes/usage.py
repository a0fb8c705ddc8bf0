"""The usage part of the fake API."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from fastapi import FastAPI

from backend.schemas.connections import (
    ConnectionSource,
    ConnectionUsed,
    ModelConnection,
    ModelPrice,
    ModelPriceInput,
    ModelPrices,
    PriceSource,
)
from backend.schemas.conversations.feedback import Feedback, NewFeedback
from backend.schemas.conversations.turns import Usage
from backend.schemas.people.rights import PrincipalType
from backend.schemas.usage import (
    Budget,
    Budgets,
    DayBudget,
    DayBudgetInput,
    DomainBudgets,
    ModelUsage,
    Named,
    OwnUsage,
    SessionUsage,
    SetBudget,
    TurnFigures,
    TurnFiguresList,
    UsageBy,
    UsageChoices,
    UsageOfDay,
    UsageReport,
    UsageRow,
)

TODAY = date(2026, 3, 31)
RENEWS = datetime(2026, 4, 1, tzinfo=UTC)


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
    wanted: list[dict[str, str | None]] = field(default_factory=list)
    choices: list[Named] = field(default_factory=list)
    own: list[DayBudget] = field(default_factory=list)
    set: dict[str, DayBudgetInput] = field(default_factory=dict)
    prices: dict[str, ModelPrice] = field(default_factory=dict)
    feedback: dict[UUID, Feedback] = field(default_factory=dict)


def add_usage_routes(app: FastAPI, used: FakeUsage, api: str) -> None:
    @app.get(f"{api}/usage")
    def usage(
        days: int = 30,
        by: UsageBy = UsageBy.DAY,
        person: str | None = None,
        team: str | None = None,
        domain: str | None = None,
        model: str | None = None,
    ) -> UsageReport:
        used.asked.append((days, by))
        used.wanted.append({"person": person, "team": team, "domain": domain, "model": model})
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
        return TurnFiguresList(
            items=[
                one.model_copy(update={"feedback": used.feedback.get(one.turn_id)})
                for one in used.figures
                if str(one.turn_id) in asked
            ]
        )

    @app.get(f"{api}/usage/choices")
    def choices(days: int = 30) -> UsageChoices:
        return UsageChoices(people=used.choices, teams=[], domains=[], models=[])

    @app.get(f"{api}/usage/own")
    def own() -> OwnUsage:
        return OwnUsage(tokens=1200, cost=0.0, budgets=used.own, renews_at=RENEWS)

    _add_budgets(app, used, api)
    _add_prices(app, used, api)
    _add_feedback(app, used, api)


def _add_budgets(app: FastAPI, used: FakeUsage, api: str) -> None:
    @app.get(f"{api}/budgets")
    def budgets() -> Budgets:
        return Budgets(
            items=[
                SetBudget(
                    principal_type=PrincipalType.TEAM, principal_id=team, name=team,
                    used_tokens=10, used_cost=0.0, **limits.model_dump(),
                )
                for team, limits in used.set.items()
            ],
            default=DayBudgetInput(),
        )  # fmt: skip

    @app.put(f"{api}/budgets/team/{{team}}")
    def set_budget(team: str, body: DayBudgetInput) -> None:
        used.set[team] = body

    @app.delete(f"{api}/budgets/team/{{team}}")
    def remove_budget(team: str) -> None:
        used.set.pop(team, None)


def _add_prices(app: FastAPI, used: FakeUsage, api: str) -> None:
    @app.get(f"{api}/model-connection")
    def connection() -> ModelConnection:
        demo = ConnectionUsed(base_url="", default_model="demo", has_key=False)
        return ModelConnection(
            **demo.model_dump(), source=ConnectionSource.DEMO, environment=demo,
            environment_is_demo=True,
        )  # fmt: skip

    @app.get(f"{api}/model-prices")
    def prices() -> ModelPrices:
        return ModelPrices(items=list(used.prices.values()))

    @app.put(f"{api}/model-prices")
    def set_price(body: ModelPriceInput) -> None:
        used.prices[body.model] = ModelPrice(
            **body.model_dump(), source=PriceSource.PAGE, saved_by="ada", saved_at=RENEWS,
            replaces_environment=body.model in used.prices,
        )  # fmt: skip

    @app.delete(f"{api}/model-prices")
    def remove_price(model: str) -> None:
        del used.prices[model]


def _add_feedback(app: FastAPI, used: FakeUsage, api: str) -> None:
    @app.post(f"{api}/turns/{{turn_id}}/feedback")
    def give(turn_id: UUID, body: NewFeedback) -> Feedback:
        used.feedback[turn_id] = Feedback(**body.model_dump(), created_at=RENEWS)
        return used.feedback[turn_id]

    @app.delete(f"{api}/turns/{{turn_id}}/feedback", status_code=204)
    def take_back(turn_id: UUID) -> None:
        used.feedback.pop(turn_id, None)
