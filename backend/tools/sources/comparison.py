"""The tool that compares two sources by keys and a measure."""

from dataclasses import replace
from decimal import Decimal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.data.aggregate import Sums
from backend.data.differences import Thresholds
from backend.data.errors import QueryFailed
from backend.data.result_comparison import Side
from backend.data.results import Limits
from backend.data.sql.quoting import identifier
from backend.tools.context import ToolContext
from backend.tools.sources.making import Answer, make_tool
from backend.tools.sources.presenting import excerpt, table_artifact
from backend.tools.sources.querying import notes_on

_LIMITS = Limits()
FilterValues = dict[str, str | int | float | bool | list[str | int | float] | None]


class CompareSources(BaseModel):
    """Compare a measure of two tables by keys: differences ranked, each match, minor or major.

    Both sides are summed by the keys. A difference is right minus left. The hint names a pattern:
    rounding, opposite sign, only in one side, "in proportion" (many figures off by the same
    percentage: exchange rates), or "offset by": the same amount with the other sign under
    another key (another period: late posting; another account: mapping; another company:
    intercompany).
    Example, FI against BPC: left="fi.totals", right="bpc.figures", keys=["fiscal_year",
    "fiscal_period", "company_code", "cost_centre", "group_account"], measure="amount_group",
    filters={"fiscal_year": 2026}, right_filters={"version": "ACTUAL"}.
    """

    left: str = Field(description="source.table of the left side.", examples=["fi.totals"])
    right: str = Field(description="source.table of the right side.", examples=["bpc.figures"])
    keys: list[str] = Field(
        min_length=1,
        max_length=12,
        description="Columns that identify a figure on both sides.",
        examples=[["fiscal_period", "group_account"]],
    )
    measure: str = Field(description="The numeric column to compare.", examples=["amount_group"])
    right_keys: list[str] | None = Field(
        None, description="The right side's names of the keys, in the same order, if they differ."
    )
    right_measure: str | None = Field(None, description="The right side's measure, if it differs.")
    filters: FilterValues = Field(
        {},
        description="Values both sides must have; a list means any of them.",
        examples=[{"fiscal_year": 2026, "fiscal_period": [1, 2, 3]}],
    )
    left_filters: FilterValues = Field({}, description="Further values of the left side.")
    right_filters: FilterValues = Field(
        {}, description="Further values of the right side.", examples=[{"version": "ACTUAL"}]
    )
    match_within: float = Field(1.0, ge=0, description="Differences up to this are a match.")
    minor_within: float = Field(1000.0, ge=0, description="Differences up to this are minor.")
    minor_percent: float = Field(
        1.0, ge=0, description="Differences up to this percentage of the left side are minor."
    )


def compare_sources(context: ToolContext) -> BaseTool:
    """Return the tool that compares two sources."""

    async def ask(**arguments: object) -> Answer:
        wanted = CompareSources.model_validate(arguments)
        right_keys = wanted.right_keys or wanted.keys
        if len(right_keys) != len(wanted.keys):
            raise QueryFailed("right_keys must name as many columns as keys, in the same order.")
        left_sums = Sums("", wanted.keys, wanted.measure, wanted.filters | wanted.left_filters)
        right_measure = wanted.right_measure or wanted.measure
        right_sums = Sums("", right_keys, right_measure, wanted.filters | wanted.right_filters)
        left = await _side(context, wanted.left, left_sums)
        right = await _side(context, wanted.right, right_sums)
        table, notes = await context.sources.compare(
            context.asker, left, right, wanted.keys, _thresholds(wanted)
        )
        known = [
            *await _known(context, wanted.left, left_sums),
            *await _known(context, wanted.right, right_sums),
        ]
        title = f"{wanted.left} (left) against {wanted.right} (right)"
        text = excerpt(title, table, [*notes, *known])
        return text, {**table_artifact(title, table), "notes": known}

    return make_tool("compare_sources", CompareSources, ask, context)


async def _side(context: ToolContext, place: str, sums: Sums) -> Side:
    source, _, table = place.partition(".")
    question = replace(sums, table=table or source)
    result = await context.sources.query(context.asker, source, question, _LIMITS)
    if not result.complete:
        raise QueryFailed(f"{place} has too many keys ({result.cut_by}). Filter it, or use fewer.")
    return Side(result, sums.measure)


async def _known(context: ToolContext, place: str, sums: Sums) -> list[str]:
    """Return what is to be known of a side's figures, as it is said with a query of them."""
    source, _, table = place.partition(".")
    columns = ", ".join(map(identifier, (*sums.keys, sums.measure)))
    sql = f"SELECT {columns} FROM {identifier(table or source)}"  # noqa: S608 - it is not run
    return await notes_on(context.sources, context.asker, source, sql)


def _thresholds(wanted: CompareSources) -> Thresholds:
    return Thresholds(
        Decimal(str(wanted.match_within)),
        Decimal(str(wanted.minor_within)),
        Decimal(str(wanted.minor_percent)),
    )
