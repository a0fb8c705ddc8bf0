"""What a chart may contain: a subset of Vega-Lite, checked by an allow-list. Pure.

A specification can only name columns of its table, not data, addresses or expressions, so that
drawing it loads and runs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_TITLE_CHARS = 120
MARKS = ("bar", "line", "area", "point", "arc", "tick", "rect")
CHANNELS = ("x", "y", "color", "size", "theta", "column", "row", "order")
TYPES = ("quantitative", "nominal", "ordinal", "temporal")
AGGREGATES = ("sum", "mean", "median", "min", "max", "count", "distinct")
TIME_UNITS = ("year", "quarter", "month", "yearquarter", "yearmonth", "yearmonthdate", "date")
SORTS = ("ascending", "descending", "x", "y", "-x", "-y")
STACKS = ("zero", "normalize", "center")

Spec = dict[str, Any]
Columns = Sequence[Mapping[str, Any]]


class SpecRefused(ValueError):
    """The specification cannot be drawn; the message says what to change."""


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
    if channel in ("column", "row") and ("field" not in checked or "aggregate" in checked):
        raise SpecRefused(f"encoding.{channel} names a column, without an aggregate.")
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
