"""The chart tool where artifacts exist: it can also draw an artifact's rows."""

from typing import Any

from langchain_core.tools import BaseTool
from pydantic import Field

from backend.artifacts import making
from backend.errors.artifacts import ArtifactRefused
from backend.tabular.charts.drawing import MAX_POINTS
from backend.tools.artifacts.calls import artifacts_of, made_of, maker_of, origin_of, say_made
from backend.tools.artifacts.making import chart_of
from backend.tools.context import ToolContext
from backend.tools.sources.charting import MakeChart, chart_of_query
from backend.tools.sources.making import Answer, make_tool

CHART = "make_chart"


class DrawChart(MakeChart):
    """Draw a chart of the result of one read-only SQL SELECT, or of a table artifact's rows.

    With source and sql, the person sees the chart with its table; with artifact_id, the chart also
    becomes an artifact. One row is one point, bar or slice. The spec is a part of Vega-Lite:
    `mark` (bar, line, area, point, arc, tick, rect) and `encoding` of x, y, color, size, theta,
    column, row or order by columns of the data. It has no data, transforms or expressions of its
    own. Leave it out, or its encoding, for a chart that fits the columns. Example:
    artifact_id="ID", title="Spend", spec={"mark": "bar", "encoding": {"x": {"field":
    "cost_centre", "type": "nominal"}, "y": {"field": "spend", "type": "quantitative"}}}.
    """

    source: str | None = Field(  # type: ignore[assignment]  # an artifact may stand for it
        None, description="The source whose tables need no prefix.", examples=["fi"]
    )
    sql: str | None = Field(  # type: ignore[assignment]  # likewise
        None, description="One SELECT, or WITH … SELECT."
    )
    artifact_id: str | None = Field(None, description="A table artifact to draw.")
    version: int | None = Field(None, ge=1, description="Which version; absent: the newest.")


def draw_chart(context: ToolContext) -> BaseTool:
    """Return the tool that draws a chart of a query or an artifact."""

    async def ask(
        title: str,
        source: str | None = None,
        sql: str | None = None,
        spec: dict[str, Any] | None = None,
        artifact_id: str | None = None,
        version: int | None = None,
    ) -> Answer:
        if artifact_id is None:
            if source is None or sql is None or version is not None:
                raise ArtifactRefused("Give either `source` and `sql`, or `artifact_id`.")
            return await chart_of_query(context, source, sql, title, spec)
        if source is not None or sql is not None:
            raise ArtifactRefused("Give either `source` and `sql`, or `artifact_id`.")
        artifacts, named = artifacts_of(context), making.clean_title(title)
        data = await chart_of(context, artifact_id, version)
        with artifacts.contents.folder() as folder:
            content = making.chart(spec, data, folder, origin_of(CHART))
            added = await artifacts.make(maker_of(context), named, content)
        cut = f" At most the first {MAX_POINTS:,} rows are drawn."
        return say_made(added) + cut, made_of(added)

    return make_tool(CHART, DrawChart, ask, context)
