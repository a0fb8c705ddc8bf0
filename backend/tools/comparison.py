"""The tool that compares two sources by keys and a measure."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.data.compare import Difference, DifferenceClass, Key, Thresholds, compare, normal_key
from backend.data.errors import QueryFailed
from backend.data.interrupt import Interrupt
from backend.data.results import Column, Limits, Scalar, Table
from backend.tools.context import ToolContext
from backend.tools.making import Answer, make_tool
from backend.tools.presenting import excerpt, table_artifact

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
    """The tool that compares two sources."""

    async def ask(**arguments: object) -> Answer:
        wanted = CompareSources.model_validate(arguments)

        def work(interrupt: Interrupt) -> Answer:
            return _Comparison(context, wanted, interrupt).answer()

        return await context.sources.run(work, _LIMITS.seconds * 2)

    return make_tool("compare_sources", CompareSources, ask)


class _Comparison:
    """One comparison as it was asked for."""

    def __init__(self, context: ToolContext, wanted: CompareSources, interrupt: Interrupt) -> None:
        self._sources = context.sources
        self._wanted = wanted
        self._interrupt = interrupt

    def answer(self) -> Answer:
        wanted = self._wanted
        right_keys = wanted.right_keys or wanted.keys
        if len(right_keys) != len(wanted.keys):
            raise QueryFailed("right_keys must name as many columns as keys, in the same order.")
        left = self._sums(wanted.left, wanted.keys, wanted.measure, wanted.left_filters)
        right_measure = wanted.right_measure or wanted.measure
        right = self._sums(wanted.right, right_keys, right_measure, wanted.right_filters)
        differences = compare(left, right, _thresholds(wanted), wanted.keys)
        title = f"{wanted.left} (left) against {wanted.right} (right)"
        table = _as_table(differences, wanted.keys)
        notes = _notes(differences, wanted)
        return excerpt(title, table, notes), table_artifact(title, table)

    def _sums(
        self, place: str, keys: Sequence[str], measure: str, own_filters: FilterValues
    ) -> dict[Key, Decimal]:
        source, _, table = place.partition(".")
        filters = {**self._wanted.filters, **own_filters}
        result = self._sources.sum_by_keys(
            source, table or source, keys, measure, filters, _LIMITS, self._interrupt
        )
        if not result.complete:
            raise QueryFailed(
                f"{place} has too many keys ({result.cut_by}). Filter it, or use fewer."
            )
        sums: dict[Key, Decimal] = {}
        for *values, amount in result.rows:
            key = normal_key(values)
            sums[key] = sums.get(key, Decimal(0)) + _amount(amount, measure)
        return sums


def _amount(value: Scalar, measure: str) -> Decimal:
    try:
        return Decimal(str(value)) if value is not None else Decimal(0)
    except InvalidOperation:
        raise QueryFailed(f"The measure {measure!r} is not numeric: it holds {value!r}.") from None


def _thresholds(wanted: CompareSources) -> Thresholds:
    return Thresholds(
        Decimal(str(wanted.match_within)),
        Decimal(str(wanted.minor_within)),
        Decimal(str(wanted.minor_percent)),
    )


def _as_table(differences: Sequence[Difference], keys: Sequence[str]) -> Table:
    columns = [Column(key, "VARCHAR") for key in keys]
    columns += [Column(name, "DECIMAL") for name in ("left", "right", "difference", "percent")]
    columns += [Column(name, "VARCHAR") for name in ("class", "hint")]
    rows: list[list[Scalar]] = [
        [
            *difference.key,
            _number(difference.left),
            _number(difference.right),
            _number(difference.amount),
            _number(difference.percent, 2),
            str(difference.rating),
            difference.hint,
        ]
        for difference in differences
    ]
    return Table(tuple(columns), rows)


def _notes(differences: Sequence[Difference], wanted: CompareSources) -> list[str]:
    counts = Counter(difference.rating for difference in differences)
    classes = ", ".join(f"{counts[rating]:,} {rating}" for rating in DifferenceClass)
    left = sum((d.left or Decimal(0) for d in differences), Decimal(0))
    right = sum((d.right or Decimal(0) for d in differences), Decimal(0))
    return [
        f"{len(differences):,} keys: {classes}. Sum left {left:.2f}, right {right:.2f}, "
        f"net difference (right - left) {right - left:.2f}.",
        f"Match: up to {wanted.match_within:g}; minor: up to {wanted.minor_within:g} or "
        f"{wanted.minor_percent:g} %; major: above. Largest differences first.",
    ]


def _number(value: Decimal | None, digits: int | None = None) -> Scalar:
    if value is None:
        return None
    return float(value if digits is None else round(value, digits))
