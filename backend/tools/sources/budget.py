"""The tool that returns a cost centre's budget, what was spent and what is left."""

import re
from collections.abc import Sequence

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.data.errors import QueryFailed, did_you_mean
from backend.data.finance.budget import COST_CENTRES, POSTED, BudgetBy, budget_query
from backend.data.results import Limits, Scalar, Table
from backend.tools.context import ToolContext
from backend.tools.sources.making import Answer, make_tool
from backend.tools.sources.presenting import excerpt, table_artifact

_LIMITS = Limits(rows=1000)


class GetBudget(BaseModel):
    """Budget, actual, what remains, and forecast of one cost centre, in group currency (EUR).

    Actuals are FI postings without intercompany recharges; budget and forecast come from BPC.
    By year, by period, or by group account; for a whole fiscal year or some of its periods.
    Example: cost_centre="CC-1001", fiscal_year=2026, by="period".
    """

    cost_centre: str = Field(
        description="The cost centre's number, or its name.", examples=["CC-1001", "Marketing"]
    )
    fiscal_year: int | None = Field(
        None, description="Leave out for the current fiscal year.", examples=[2026]
    )
    fiscal_period_from: int = Field(1, ge=1, le=12, description="First period.")
    fiscal_period_to: int = Field(12, ge=1, le=12, description="Last period.")
    by: BudgetBy = Field(BudgetBy.YEAR, description="How to break the figures down.")


def get_budget(context: ToolContext) -> BaseTool:
    """Return the tool that looks up a budget."""

    async def ask(
        cost_centre: str,
        fiscal_year: int | None = None,
        fiscal_period_from: int = 1,
        fiscal_period_to: int = 12,
        by: BudgetBy = BudgetBy.YEAR,
    ) -> Answer:
        periods = (fiscal_period_from, fiscal_period_to)
        return await _Lookup(context).answer(cost_centre, fiscal_year, periods, BudgetBy(by))

    return make_tool("get_budget", GetBudget, ask, context)


class _Lookup:
    """One look-up: the cost centre, the last posted period of its year, and the figures."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def answer(
        self, wanted: str, year: int | None, periods: tuple[int, int], by: BudgetBy
    ) -> Answer:
        centre = _match_centre(wanted, (await self._query(COST_CENTRES)).rows)
        fiscal_year, posted = await self._choose_year(year)
        number, name, company_code, responsible = centre
        table = await self._query(budget_query(str(number), fiscal_year, *periods, by))
        title = f"Budget of {number} {name}, fiscal year {fiscal_year}, by {by}"
        notes = [
            f"Company code {company_code}, responsible: {responsible}. "
            f"Fiscal periods {periods[0]} to {periods[1]}; posted up to period {posted}. "
            "All amounts in EUR; remaining = budget - actual."
        ]
        return excerpt(title, table, notes), table_artifact(title, table)

    async def _choose_year(self, year: int | None) -> tuple[int, int]:
        """Return the year, or the latest one posted, and the last period posted in it."""
        rows = (await self._query(POSTED)).rows
        posted = {int(str(row[0])): int(str(row[1])) for row in rows}
        chosen = max(posted) if year is None else year
        if chosen not in posted:
            years = ", ".join(map(str, posted))
            raise QueryFailed(f"There are no figures of fiscal year {chosen}, only of {years}.")
        return chosen, posted[chosen]

    async def _query(self, sql: str) -> Table:
        return await self._context.sources.query(self._context.asker, "fi", sql, _LIMITS)


def _match_centre(wanted: str, centres: Sequence[Sequence[Scalar]]) -> Sequence[Scalar]:
    """Return the cost centre by number ('CC-1001', 'cc1001', '1001') or by name."""
    plain = wanted.strip().lower()
    number = re.fullmatch(r"(?:cc)?[\s_-]*(\d+)", plain)
    for row in centres:
        by_number = number is not None and str(row[0]).endswith(f"-{number[1]}")
        if by_number or plain in (str(row[0]).lower(), str(row[1]).lower()):
            return row
    names = [str(value) for row in centres for value in row[:2]]
    listed = ", ".join(f"{row[0]} {row[1]}" for row in centres)
    hint = did_you_mean(wanted, names)
    raise QueryFailed(f"There is no cost centre {wanted!r}.{hint} The cost centres are: {listed}.")
