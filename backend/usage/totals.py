"""All usage so far, by model: what only grows, for those who watch the installation."""

from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from db.models.usage_day import UsageDayRow


@dataclass(frozen=True)
class ModelTotal:
    """What one model has been used for."""

    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "ModelTotal") -> "ModelTotal":
        return ModelTotal(*(getattr(self, n) + getattr(other, n) for n in _NAMES))


_NAMES = [field.name for field in fields(ModelTotal)]


class Totals:
    """Reads the totals; those of past days, which hardly change, once a day."""

    def __init__(self) -> None:
        self._day: date | None = None
        self._before: dict[str, ModelTotal] = {}

    def read(self, session: Session) -> dict[str, ModelTotal]:
        """Return the totals by model; the session sees everybody's rows."""
        today = datetime.now(UTC).date()
        day = UsageDayRow.day
        if self._day != today:
            self._before, self._day = _sums(session, day < today), today
        now = _sums(session, day >= today)
        none = ModelTotal()
        models = sorted(self._before.keys() | now.keys())
        return {one: self._before.get(one, none) + now.get(one, none) for one in models}


def _sums(session: Session, condition: ColumnElement[bool]) -> dict[str, ModelTotal]:
    row = UsageDayRow
    sums = [func.coalesce(func.sum(getattr(row, name)), 0) for name in _NAMES]
    found = session.execute(select(row.model, *sums).where(condition).group_by(row.model))
    return {model: _total(dict(zip(_NAMES, values, strict=True))) for model, *values in found}


def _total(sums: dict[str, Decimal]) -> ModelTotal:
    cost = float(sums.pop("cost"))
    return ModelTotal(**{name: int(value) for name, value in sums.items()}, cost=cost)
