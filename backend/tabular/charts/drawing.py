"""A table's chart as Vega-Lite with its rows: one way for the page, exports and documents. Pure.

What is drawn is what the table says: a day in every zone of server and reader (`times.py`), in the
order of the rows or of time (`ordering.py`), combined only by an aggregate that is named
(`combining.py`), and few enough to read (`limits.py`). What was cut or combined stands above it.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.tabular.charts.combining import combine
from backend.tabular.charts.limits import limit
from backend.tabular.charts.ordering import order_of
from backend.tabular.charts.plot import Channel, Plot, Role, make_plot
from backend.tabular.charts.spec import Spec
from backend.tabular.charts.times import for_vega, label
from backend.tabular.columns import Kind

MAX_POINTS = 5_000
_LINE = 68  # characters of a note, which a telephone shows
_BAR = 18  # pixels, with its gap
_AROUND = 70  # pixels of axis and title
_LEAST_LISTED = 12  # bars, from which on they lie, so that their labels are read
_LONG_LABEL = 12  # characters
_WIDTH_OF_LABELS = 80  # characters side by side
_CLOCKS = {  # of an axis of moments, by the size of its steps
    "seconds": "%H:%M:%S",
    "minutes": "%H:%M",
    "hours": "%H:%M",
    "date": "%x",
    "week": "%x",
    "month": "%b %Y",
    "quarter": "%b %Y",
    "year": "%Y",
}
_MOST_TICKS = 24  # one for each unit; of more, Vega chooses some
_STEPS = {  # by unit: the interval and number of a step, and its least days
    "year": ("year", 1, 365),
    "yearquarter": ("month", 3, 90),
    "yearmonth": ("month", 1, 28),
    "yearmonthdate": ("day", 1, 1),
}
_COUNTS = ("count", "distinct")
_LOOKS: Mapping[str, Spec] = {"line": {"point": True}, "point": {"filled": True}}


@dataclass(frozen=True)
class Drawing:
    """A chart without data: its specification, rows, notes, and height if it needs its own."""

    spec: Spec
    rows: list[Spec]
    notes: list[str]
    height: int | None = None


def draw(spec: Spec, table: Mapping[str, Any], locale: str | None = None) -> Drawing:
    """Return a checked specification for drawing a table of `metadata.table`'s shape."""
    plot = make_plot(spec, table, MAX_POINTS, locale)
    count = max(len(table["rows"]), int(table.get("row_count") or 0))
    drawn = min(len(table["rows"]), MAX_POINTS)
    if drawn < count:
        plot.notes.append(f"Drawn from the first {plot.count(drawn)} of {plot.count(count)} rows.")
    combine(plot)
    limit(plot)
    is_lying = _lay(plot)
    encoding: Spec = {name: _encode(plot, channel) for name, channel in plot.channels.items()}
    if plot.is_grouped:
        offset = "yOffset" if is_lying else "xOffset"
        colour = plot.channels["color"]
        encoding[offset] = {"field": "color", "sort": order_of(plot, colour), "type": "nominal"}
    encoding["tooltip"] = [_tooltip(channel) for channel in plot.channels.values()]
    looks = {**plot.mark, **_LOOKS.get(plot.type, {})}
    drawing = {"mark": looks, "encoding": encoding, **_said(plot.notes)}
    return Drawing(drawing, _rows(plot), plot.notes, _height(plot) if is_lying else None)


def _said(notes: list[str]) -> Spec:
    """Return the title that says what was cut or combined; a picture is often seen alone."""
    lines = [line for note in notes for line in textwrap.wrap(note, _LINE)]
    if not lines:
        return {}
    looks = {"anchor": "start", "fontSize": 11, "fontWeight": "normal", "offset": 8}
    return {"title": {"text": lines, **looks}}


def _lay(plot: Plot) -> bool:
    """Lay many bars, or those with long names, on their side; return whether they lie."""
    x, y = plot.channels.get("x"), plot.channels.get("y")
    if plot.type != "bar" or x is None or y is None:
        return False
    if x.role is Role.CATEGORY and y.role in (Role.MEASURE, Role.COUNT) and not x.is_time:
        cells = x.distinct()
        longest = max(map(len, cells), default=0)
        if len(cells) > _LEAST_LISTED or (
            longest > _LONG_LABEL and longest * len(cells) > _WIDTH_OF_LABELS
        ):
            x.name, y.name = "y", "x"
            plot.channels |= {"x": y, "y": x}
            return True
    return y.role is Role.CATEGORY and x.role in (Role.MEASURE, Role.COUNT)


def _height(plot: Plot) -> int:
    bars = len(plot.channels["y"].distinct())
    beside = len(plot.channels["color"].distinct()) if plot.is_grouped else 1
    return bars * max(_BAR, min(6 * beside, 4 * _BAR)) + _AROUND + 14 * len(plot.notes)


def _encode(plot: Plot, channel: Channel) -> Spec:
    given, name = channel.definition, channel.name
    if channel.role is Role.BINNED:
        return {"field": name, "bin": True, "type": "quantitative", "title": channel.title}
    if channel.role is Role.TIME:
        return _along_time(channel)
    if channel.role is Role.CATEGORY:
        drawn: Spec = {"field": name, "type": "nominal", "sort": order_of(plot, channel)}
        drawn["title"] = channel.title
        if name in ("x", "y"):
            drawn["axis"] = _labels(channel)
        return drawn
    drawn = {"field": name, "type": "quantitative", "title": channel.title}
    if aggregate := given.get("aggregate") if plot.of(Role.BINNED) else None:
        drawn = {**drawn, "aggregate": aggregate}
    if channel.role is Role.COUNT and plot.of(Role.BINNED):
        del drawn["field"]
    if "scale" in given:
        drawn["scale"] = given["scale"]
    if channel is plot.value and plot.type in ("bar", "area", "arc"):
        stack = given.get("stack", "zero") if channel.is_additive else None
        drawn["stack"] = stack
    if name in ("x", "y") and channel.role is Role.MEASURE:
        drawn |= _axis(channel)
    return drawn


def _axis(channel: Channel) -> Spec:
    """Return how an axis of numbers is written: shares as percent, money shortened."""
    if channel.written and channel.written.is_percent:
        return {"axis": {"format": "~%"}}
    return {"axis": {"format": "~s"}} if channel.kind is Kind.MONEY else {}


def _along_time(channel: Channel) -> Spec:
    drawn: Spec = {"field": channel.name, "type": "temporal", "title": channel.title}
    drawn["scale"] = {"type": "utc"}
    if channel.unit:
        drawn["timeUnit"] = f"utc{channel.unit}"
    drawn["axis"] = {"labelOverlap": "greedy", **_ticks(channel)}
    return drawn


def _ticks(channel: Channel) -> Spec:
    """Return the steps of an axis, which Vega would compute in the zone of whoever looks."""
    if channel.unit not in _STEPS:
        return {"format": _CLOCKS}
    interval, step, days = _STEPS[channel.unit]
    looks: Spec = {"format": "%x"} if channel.unit == "yearmonthdate" else {}
    span = (max(channel.cells) - min(channel.cells)).days if channel.cells else 0
    if span <= _MOST_TICKS * days:
        return {**looks, "tickCount": {"interval": interval, "step": step}}
    return {**looks, "tickMinStep": days * 86_400_000}


def _labels(channel: Channel) -> Spec:
    """Return how an axis writes its categories: whole and level where there is room."""
    cells = channel.distinct()
    if channel.name == "y":
        return {"labelLimit": 220}
    longest = max(map(len, cells), default=0)
    is_level = (longest + 2) * len(cells) <= _WIDTH_OF_LABELS
    looks: Spec = {"labelAngle": 0 if is_level else -45, "labelLimit": 140}
    return looks if is_level else {**looks, "labelOverlap": "greedy"}


def _tooltip(channel: Channel) -> Spec:
    if channel.role is Role.TIME:
        return {"field": f"{channel.name}_text", "type": "nominal", "title": channel.title}
    if channel.role is Role.BINNED:
        return {"field": channel.name, "bin": True, "type": "quantitative", "title": channel.title}
    is_name = channel.role is Role.CATEGORY
    tip: Spec = {"field": channel.name, "type": "nominal" if is_name else "quantitative"}
    tip["title"] = channel.title
    if channel.written and channel.role is Role.MEASURE and channel.aggregate not in _COUNTS:
        tip["format"] = channel.written.d3
    return tip


def _rows(plot: Plot) -> list[Spec]:
    timed = plot.of(Role.TIME)
    rows = []
    for place in range(plot.rows):
        row: Spec = {n: channel.cells[place] for n, channel in plot.channels.items()}
        for channel in timed:
            moment = channel.cells[place]
            row[channel.name] = for_vega(moment)
            row[f"{channel.name}_text"] = label(moment, channel.unit, plot.locale)
        rows.append(row)
    return rows
