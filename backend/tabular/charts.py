"""Charts of tables: a subset of Vega-Lite, checked by an allow-list, and default charts. Pure.

A specification can only name columns of its table, not data, addresses or expressions, so that
drawing it loads and runs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.tabular.columns import Kind, kind_of, kinds_of

MAX_TITLE_CHARS = 120
MAX_POINTS = 5_000
MARKS = ("bar", "line", "area", "point", "arc", "tick", "rect")
CHANNELS = ("x", "y", "color", "size", "theta", "column", "row", "order")
TYPES = ("quantitative", "nominal", "ordinal", "temporal")
AGGREGATES = ("sum", "mean", "median", "min", "max", "count", "distinct")
TIME_UNITS = ("year", "quarter", "month", "yearquarter", "yearmonth", "yearmonthdate", "date")
SORTS = ("ascending", "descending", "x", "y", "-x", "-y")
STACKS = ("zero", "normalize", "center")
_TIME_WORDS = ("year", "period", "month", "quarter", "week", "day", "date")
_TIME_TYPES = (Kind.DATE, Kind.MOMENT)

Spec = dict[str, Any]
Columns = Sequence[Mapping[str, Any]]


class SpecRefused(ValueError):
    """The specification cannot be drawn; the message says what to change."""


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


def check_spec(spec: Any, columns: Columns) -> Spec:
    """Return a specification whose parts are all allowed. Raise SpecRefused."""
    if not isinstance(spec, dict):
        raise SpecRefused("The spec is a Vega-Lite object with `mark` and `encoding`.")
    _only(spec, ("mark", "encoding", "title"), "the spec")
    mark = spec.get("mark")
    mark = mark if isinstance(mark, dict) else {"type": mark}
    checked: Spec = {"mark": _parts(mark, _MARK, "mark"), "encoding": {}}
    if "type" not in checked["mark"]:
        raise SpecRefused(f"`mark` is one of {', '.join(MARKS)}.")
    if "title" in spec:
        checked["title"] = _title(spec["title"], "title")
    names = [str(column.get("name", "")) for column in columns]
    encoding = spec.get("encoding")
    if not isinstance(encoding, dict) or not encoding:
        raise SpecRefused(f"`encoding` names columns for channels: {', '.join(CHANNELS)}.")
    _only(encoding, CHANNELS, "encoding")
    for channel, definition in encoding.items():
        checked["encoding"][channel] = _channel(definition, names, channel)
    return checked


def default_spec(columns: Columns) -> Spec | None:
    """Return a chart that fits the types: lines over time, bars by category, points of numbers.

    Return None without a column to measure, or without one to measure it by.
    """
    kinds = [(str(c["name"]), kind_of(str(c["name"]), str(c.get("type", "")))) for c in columns]
    over_time = [name for name, kind in kinds if _is_time(name, kind)]
    numbers = [(n, k) for n, k in kinds if k in (Kind.MONEY, Kind.NUMBER) and n not in over_time]
    numbers.sort(key=lambda one: one[1] is not Kind.MONEY)
    texts = [name for name, kind in kinds if kind is Kind.TEXT]
    if not numbers:
        return None
    y = numbers[0][0]
    if over_time:
        *longer, x = over_time
        # A line for each year over its months; a date has its year in it.
        series = texts if dict(kinds)[x] in _TIME_TYPES else [*longer, *texts]
        return make_spec("line", x, y, series[0] if len(series) == 1 else None, columns)
    if texts:
        return make_spec("bar", texts[0], y, None, columns)
    if len(numbers) > 1:
        return make_spec("point", numbers[0][0], numbers[1][0], None, columns)
    return None


def make_spec(mark: str, x: str, y: str, colour: str | None, columns: Columns) -> Spec:
    """Return the specification of one y over one x; bars and lines sum values with the same x."""
    encoding: Spec = {"x": {"field": x, "type": _type(x, columns)}}
    encoding["y"] = {"field": y, "type": "quantitative"}
    if mark in ("bar", "area", "line"):
        encoding["y"]["aggregate"] = "sum"
        if encoding["x"]["type"] == "quantitative":
            encoding["x"]["type"] = "ordinal"
    if mark == "bar" and encoding["x"]["type"] == "nominal":
        encoding["x"]["sort"] = "-y"
    if colour:
        kind = _type(colour, columns)
        # Years are told apart by colours of their own, not by shades of one.
        encoding["color"] = {"field": colour, "type": "nominal" if kind == "ordinal" else kind}
    return {"mark": {"type": mark}, "encoding": encoding}


def _encoding_for(mark: Any, fitting: Spec, columns: Columns) -> Spec:
    """Return the columns of a fitting chart for another mark."""
    mark = mark.get("type") if isinstance(mark, dict) else mark
    x, y, colour = (fitting["encoding"].get(name, {}).get("field") for name in ("x", "y", "color"))
    if mark == "arc":
        slices = {"field": y, "type": "quantitative", "aggregate": "sum"}
        return {"theta": slices, "color": {"field": x, "type": "nominal"}}
    encoding: Spec = make_spec(mark, x, y, colour, columns)["encoding"]
    return encoding


def to_vega(spec: Spec, columns: Columns) -> Spec:
    """Return a checked specification for drawing, with columns named c0, c1 and so on.

    A column's own name may contain characters that Vega-Lite reads as a path.
    """
    places = {str(column.get("name", "")): f"c{n}" for n, column in enumerate(columns)}
    kinds = kinds_of(columns)
    encoding: Spec = {}
    for channel, definition in spec["encoding"].items():
        drawn = {**definition}
        if name := definition.get("field"):
            drawn = {"title": name, **definition, "field": places[name]}
            is_money = kinds[int(places[name][1:])] is Kind.MONEY
            if channel in ("x", "y") and is_money and definition.get("type") == "quantitative":
                drawn["axis"] = {"format": "~s"}
        encoding[channel] = drawn
    encoding["tooltip"] = _tooltips(encoding, kinds)
    return {
        "mark": {**spec["mark"], **_MARK_LOOKS.get(spec["mark"]["type"], {})},
        "encoding": encoding,
    }


def rows_for(table: Mapping[str, Any]) -> list[Spec]:
    """Return a table's first rows as objects for `to_vega`, as many as a browser can draw."""
    return [{f"c{n}": value for n, value in enumerate(row)} for row in table["rows"][:MAX_POINTS]]


_MARK_LOOKS: Mapping[str, Spec] = {"line": {"point": True}, "point": {"filled": True}}


def _tooltips(encoding: Spec, kinds: Sequence[Kind]) -> list[Spec]:
    tips = []
    for definition in encoding.values():
        if "field" not in definition and "aggregate" not in definition:
            continue
        kept = ("field", "type", "aggregate", "timeUnit", "title")
        tip = {key: definition[key] for key in kept if key in definition}
        if "field" in definition and kinds[int(definition["field"][1:])] is Kind.MONEY:
            tip["format"] = ",.2f"
        tips.append(tip)
    return tips


def _is_time(name: str, kind: Kind) -> bool:
    is_named = any(word in name.lower().split("_") for word in _TIME_WORDS)
    return kind in _TIME_TYPES or (kind is Kind.NUMBER and is_named)


def _type(name: str, columns: Columns) -> str:
    kinds = {str(c["name"]): kind_of(str(c["name"]), str(c.get("type", ""))) for c in columns}
    kind = kinds[name]
    if kind in _TIME_TYPES:
        return "temporal"
    if _is_time(name, kind):
        return "ordinal"
    return "nominal" if kind is Kind.TEXT else "quantitative"


def _only(given: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in given:
        if key not in known:
            shown = str(key)[:80]
            raise SpecRefused(f"{shown!r} is not taken in {where}, only {', '.join(known)}.")


def _parts(given: Any, rules: Mapping[str, Callable[[Any, str], Any]], where: str) -> Spec:
    if not isinstance(given, dict):
        raise SpecRefused(f"{where} is an object with some of {', '.join(rules)}.")
    _only(given, tuple(rules), where)
    return {key: rules[key](value, f"{where}.{key}") for key, value in given.items()}


def _channel(definition: Any, names: Sequence[str], channel: str) -> Spec:
    checked = _parts(definition, _CHANNEL, f"encoding.{channel}")
    if "field" in checked and checked["field"] not in names:
        listed = ", ".join(names[:30])
        raise SpecRefused(f"There is no column {checked['field']!r}. The columns are: {listed}.")
    if "field" not in checked and checked.get("aggregate") != "count":
        raise SpecRefused(f"encoding.{channel} needs a `field`, or the aggregate `count`.")
    return checked


def _one_of(known: Sequence[str]) -> Callable[[Any, str], Any]:
    def check(value: Any, where: str) -> Any:
        if not isinstance(value, str) or value not in known:
            raise SpecRefused(f"{where} is one of {', '.join(known)}.")
        return value

    return check


def _title(value: Any, where: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_TITLE_CHARS:
        raise SpecRefused(f"{where} is a text of at most {MAX_TITLE_CHARS} characters.")
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise SpecRefused(f"{where} is true or false.")
    return value


def _field(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise SpecRefused(f"{where} is a column's name.")
    return value


def _scale(value: Any, where: str) -> Spec:
    return _parts(value, {"zero": _flag, "type": _one_of(("linear", "log", "sqrt"))}, where)


def _stack(value: Any, where: str) -> Any:
    return value if value is None or isinstance(value, bool) else _one_of(STACKS)(value, where)


def _sort(value: Any, where: str) -> Any:
    return None if value is None else _one_of(SORTS)(value, where)


_MARK: Mapping[str, Callable[[Any, str], Any]] = {
    "type": _one_of(MARKS),
    "point": _flag,
    "filled": _flag,
    "interpolate": _one_of(("linear", "monotone", "step")),
}
_CHANNEL: Mapping[str, Callable[[Any, str], Any]] = {
    "field": _field,
    "type": _one_of(TYPES),
    "aggregate": _one_of(AGGREGATES),
    "timeUnit": _one_of(TIME_UNITS),
    "bin": _flag,
    "sort": _sort,
    "stack": _stack,
    "title": _title,
    "scale": _scale,
}
