"""Charts that fit the columns of a table where no specification, or only a mark, is given. Pure."""

from typing import Any

from backend.tabular.charts.spec import Columns, Spec, SpecRefused, check_spec
from backend.tabular.columns import Kind, kinds_of

_TIME_WORDS = ("year", "period", "month", "quarter", "week", "day", "date")
TIME_KINDS = (Kind.DATE, Kind.MOMENT)
NUMBER_KINDS = (Kind.MONEY, Kind.NUMBER)


def chart_of(spec: Spec | None, columns: Columns) -> Spec:
    """Return a checked specification; what is not given fits the columns: all, or the encoding.

    Raise SpecRefused.
    """
    if spec is not None and ("mark" not in spec or "encoding" in spec):
        return check_spec(spec, columns)
    fitting = default_spec(columns)
    if fitting is None:
        needed = "it needs a number, and a text or time to draw it by"
        raise SpecRefused(f"No chart fits these columns: {needed}.")
    if spec is not None:
        fitting = {**spec, "encoding": _encoding_for(spec["mark"], fitting, columns)}
    return check_spec(fitting, columns)


def default_spec(columns: Columns) -> Spec | None:
    """Return a chart that fits the types: lines over time, bars by category, points of numbers.

    Return None without a column to measure, or without one to measure it by.
    """
    kinds = [(str(c["name"]), kind) for c, kind in zip(columns, kinds_of(columns), strict=True)]
    over_time = [name for name, kind in kinds if is_time(name, kind)]
    numbers = [(n, k) for n, k in kinds if k in NUMBER_KINDS and n not in over_time]
    numbers.sort(key=lambda one: one[1] is not Kind.MONEY)
    texts = [name for name, kind in kinds if kind is Kind.TEXT]
    if not numbers:
        return None
    y = numbers[0][0]
    if over_time:
        *longer, x = over_time
        # A line for each year over its months; a date has its year in it.
        series = texts if dict(kinds)[x] in TIME_KINDS else [*longer, *texts]
        return make_spec("line", x, y, series[0] if len(series) == 1 else None, columns)
    if texts:
        return make_spec("bar", texts[0], y, None, columns)
    if len(numbers) > 1:
        return make_spec("point", numbers[0][0], numbers[1][0], None, columns)
    return None


def make_spec(mark: str, x: str, y: str, colour: str | None, columns: Columns) -> Spec:
    """Return the specification of one y over one x; how rows are combined is up to `draw`."""
    encoding: Spec = {"x": {"field": x, "type": _type(x, columns)}}
    encoding["y"] = {"field": y, "type": "quantitative"}
    if mark in ("bar", "area", "line") and encoding["x"]["type"] == "quantitative":
        encoding["x"]["type"] = "ordinal"
    if colour:
        kind = _type(colour, columns)
        # Years are told apart by colours of their own, not by shades of one.
        encoding["color"] = {"field": colour, "type": "nominal" if kind == "ordinal" else kind}
    return {"mark": {"type": mark}, "encoding": encoding}


def is_time(name: str, kind: Kind) -> bool:
    """Return whether a column is a time: by its type, or a number such as a period by its name."""
    is_named = any(word in name.lower().split("_") for word in _TIME_WORDS)
    return kind in TIME_KINDS or (kind is Kind.NUMBER and is_named)


def _encoding_for(mark: Any, fitting: Spec, columns: Columns) -> Spec:
    """Return the columns of a fitting chart for another mark."""
    mark = mark.get("type") if isinstance(mark, dict) else mark
    x, y, colour = (fitting["encoding"].get(name, {}).get("field") for name in ("x", "y", "color"))
    if mark == "arc":
        slices = {"field": y, "type": "quantitative"}
        return {"theta": slices, "color": {"field": x, "type": "nominal"}}
    encoding: Spec = make_spec(mark, x, y, colour, columns)["encoding"]
    return encoding


def _type(name: str, columns: Columns) -> str:
    kinds = dict(zip((str(c["name"]) for c in columns), kinds_of(columns), strict=True))
    kind = kinds[name]
    if kind in TIME_KINDS:
        return "temporal"
    if is_time(name, kind):
        return "ordinal"
    return "nominal" if kind is Kind.TEXT else "quantitative"
