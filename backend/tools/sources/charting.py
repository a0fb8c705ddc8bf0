"""The tool that draws a chart of a query's result, which is stored with it."""

from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.data.errors import QueryFailed
from backend.tabular.charts.drawing import draw
from backend.tabular.charts.fitting import chart_of
from backend.tabular.charts.spec import SpecRefused
from backend.tools.context import ToolContext
from backend.tools.sources.making import Answer, make_tool
from backend.tools.sources.presenting import excerpt, table_artifact
from backend.tools.sources.querying import run_query


class MakeChart(BaseModel):
    """Draw a chart of the result of one read-only SQL SELECT; the person sees it with its table.

    Aggregate in SQL so that one row is one point, bar or slice: other rows are combined, which the
    chart says. Bars and lines have the order of the rows, parts of the calendar that of time. The
    spec is a part of Vega-Lite:
    `mark` (bar, line, area, point, arc, tick, rect) and `encoding` of x, y, color, size, theta,
    column, row or order by columns of the result. It has no data, transforms or expressions of
    its own. Leave it out, or its encoding, for a chart that fits the columns. Example: source="fi",
    sql="SELECT cost_centre, SUM(amount_group) AS spend FROM totals WHERE fiscal_year = 2026
    AND cost_centre IS NOT NULL GROUP BY cost_centre", title="Spend by cost centre",
    spec={"mark": "bar", "encoding": {"x": {"field": "cost_centre", "type": "nominal"},
    "y": {"field": "spend", "type": "quantitative"}}}.
    """

    source: str = Field(description="The source whose tables need no prefix.", examples=["fi"])
    sql: str = Field(description="One SELECT, or WITH … SELECT.")
    title: str = Field(description="A short title for the chart.", max_length=120)
    spec: dict[str, Any] | None = Field(None, description="The chart, in Vega-Lite.")


def make_chart(context: ToolContext) -> BaseTool:
    """Return the tool that draws a chart."""

    async def ask(source: str, sql: str, title: str, spec: dict[str, Any] | None = None) -> Answer:
        return await chart_of_query(context, source, sql, title, spec)

    return make_tool("make_chart", MakeChart, ask, context)


async def chart_of_query(
    context: ToolContext, source: str, sql: str, title: str, spec: dict[str, Any] | None
) -> Answer:
    """Return the chart of a query's result. Raise DataError."""
    found = await run_query(context.sources, context.asker, source, sql, title)
    table = table_artifact(title, found.table)
    try:
        checked = chart_of(spec, table["columns"])
    except SpecRefused as refusal:
        raise QueryFailed(f"The chart cannot be drawn: {refusal}") from None
    notes = [*found.notes, "The chart is drawn and shown to the person, with this table."]
    notes += [f"SAID at the chart: {note}" for note in draw(checked, table).notes]
    text = excerpt(title, found.table, notes)
    return text, {**table, "notes": found.notes, "chart": checked}
