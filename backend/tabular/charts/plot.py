"""What a chart draws: the cells of each channel, and whether they are measures, times or names.

Pure. A channel's cells are apart from those of others, so that one column can be two channels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from backend.tabular.charts import times
from backend.tabular.charts.calendar import Key, calendar_keys
from backend.tabular.charts.fitting import NUMBER_KINDS, TIME_KINDS, is_time
from backend.tabular.charts.measures import are_parts_of_a_whole, as_number, is_rate
from backend.tabular.charts.spec import Spec
from backend.tabular.columns import Kind, format_of, kinds_of
from backend.tabular.locales import NOTHING, write_number
from backend.tabular.number_formats import NumberFormat

STACKED = ("bar", "area", "arc")
PATHS = ("line", "area")
_UNSTACKED = ("mean", "median", "min", "max", "distinct")
_MOST_DAYS = 60  # of an axis on which a bar of one day is still wide enough

Cell = Any


class Role(StrEnum):
    """What the cells of a channel are."""

    MEASURE = "measure"
    COUNT = "count"  # of the rows
    TIME = "time"  # drawn along time
    CATEGORY = "category"
    BINNED = "binned"


@dataclass
class Channel:
    """One channel: its cells by row, and how they are written.

    `keys` says where a category is in time or among numbers; empty if only the rows say it. What
    `is_cyclic` comes again after its last: December, Sunday.
    """

    name: str
    role: Role
    column: str
    definition: Spec
    title: str
    cells: list[Cell]
    kind: Kind = Kind.TEXT
    unit: str = ""
    keys: Mapping[str, Key] = field(default_factory=dict)
    form: tuple[str, ...] = ()
    is_time: bool = False
    is_cyclic: bool = False
    aggregate: str = ""  # of the rows that are one in the chart
    written: NumberFormat | None = None  # its numbers

    @property
    def is_rate(self) -> bool:
        """Whether its figures are a rate, by their name or because they are percent."""
        is_share = self.written is not None and self.written.is_share
        return is_share or is_rate(self.column)

    def measured(self, title: str) -> str:
        """Return a title with the currency or unit of the channel's numbers."""
        measure = self.written.measure if self.written else ""
        return f"{title} ({measure})" if measure else title

    @property
    def is_additive(self) -> bool:
        """Whether the sum of two cells means something."""
        aggregate = self.aggregate or self.definition.get("aggregate", "")
        if aggregate in _UNSTACKED:
            return False
        return self.role is Role.COUNT or aggregate == "count" or not self.is_rate

    def distinct(self) -> list[Cell]:
        """Return its cells, each once, in the order of the rows."""
        return list(dict.fromkeys(self.cells))


@dataclass
class Plot:
    """A chart before it is written for Vega, and what is to be said of it.

    `others` is the name of the colour of all that have none of their own.
    """

    mark: Spec
    channels: dict[str, Channel]
    notes: list[str]
    locale: str | None = None
    others: str = ""

    @property
    def type(self) -> str:
        """The type of its mark."""
        return str(self.mark["type"])

    @property
    def rows(self) -> int:
        """The number of rows that it draws."""
        return max((len(channel.cells) for channel in self.channels.values()), default=0)

    @property
    def value(self) -> Channel | None:
        """The channel whose size is drawn, if there is one."""
        places = {"arc": ("theta",), "rect": ("color",)}.get(self.type, ("y", "x"))
        found = [self.channels[place] for place in places if place in self.channels]
        return next((c for c in found if c.role in (Role.MEASURE, Role.COUNT)), None)

    @property
    def is_grouped(self) -> bool:
        """Whether bars of several colours stand beside each other, since they do not add up."""
        value, colour = self.value, self.channels.get("color")
        is_parted = (
            colour is not None
            and colour.role is Role.CATEGORY
            and colour.column
            not in (c.column for name, c in self.channels.items() if name in ("x", "y"))
        )
        return self.type == "bar" and is_parted and value is not None and not value.is_additive

    def count(self, number: int) -> str:
        """Return a number as the reader of the notes writes it."""
        return write_number(number, self.locale, 0)

    def of(self, *roles: Role) -> list[Channel]:
        """Return the channels with one of these roles."""
        return [channel for channel in self.channels.values() if channel.role in roles]

    def keep(self, places: Sequence[int]) -> None:
        """Draw only these rows."""
        for channel in self.channels.values():
            channel.cells = [channel.cells[place] for place in places]


def make_plot(spec: Spec, table: Mapping[str, Any], most: int, locale: str | None) -> Plot:
    """Return what a checked specification draws of a table's first rows."""
    rows = table["rows"][:most]
    columns = table["columns"]
    by_name: dict[str, int] = {}
    for place, column in enumerate(columns):
        by_name.setdefault(str(column.get("name", "")), place)
    plot = Plot({**spec["mark"]}, {}, [], locale)
    read: dict[str, times.Times] = {}
    for name, definition in spec["encoding"].items():
        place = by_name.get(definition.get("field", ""), -1)
        cells = [row[place] if 0 <= place < len(row) else None for row in rows]
        channel = _channel(name, definition, columns[place] if place >= 0 else {}, cells)
        channel.role = _role(channel, plot.type)
        if channel.role in (Role.MEASURE, Role.BINNED) and not definition.get("aggregate"):
            channel.cells = [as_number(cell) for cell in cells]
        if channel.role is Role.TIME:
            found = times.read_times(cells, str(columns[place].get("type", "")))
            if found is None:
                channel.role = Role.CATEGORY
            else:
                read[name] = found
        plot.channels[name] = channel
    _settle(plot)
    for name, found in read.items():
        _place_in_time(plot, plot.channels[name], found)
    for channel in plot.of(Role.CATEGORY):
        if channel.name not in read:
            _name(channel)
    for channel in plot.of(Role.TIME):  # a row without a time has no place along it
        plot.keep([row for row, cell in enumerate(channel.cells) if cell is not None])
    return plot


def _channel(name: str, definition: Spec, column: Mapping[str, Any], cells: list[Cell]) -> Channel:
    field = definition.get("field", "")
    channel = Channel(name, Role.COUNT, field, definition, _title_of(field), cells)
    if column:
        (channel.kind,), channel.written = kinds_of([column]), format_of(column)
    channel.title = str(definition.get("title") or channel.measured(channel.title))
    return channel


def _role(channel: Channel, mark: str) -> Role:
    definition, kind = channel.definition, channel.kind
    type_ = definition.get("type")
    if not channel.column:
        return Role.COUNT
    are_numbers = all(as_number(cell) is not None for cell in channel.cells if cell is not None)
    if definition.get("bin") and are_numbers:
        return Role.BINNED
    if definition.get("aggregate"):
        return Role.MEASURE
    if channel.name in ("column", "row") and kind not in TIME_KINDS:
        return Role.CATEGORY
    if kind in TIME_KINDS or type_ == "temporal":
        is_name = type_ in ("nominal", "ordinal") and not definition.get("timeUnit")
        return Role.CATEGORY if is_name and kind not in TIME_KINDS else Role.TIME
    if type_ == "quantitative" or (type_ is None and kind in NUMBER_KINDS):
        return Role.MEASURE if are_numbers else Role.CATEGORY
    return Role.CATEGORY


def _settle(plot: Plot) -> None:
    """Change what would mislead: slices of what is no whole, bars along a number, sums of rates."""
    x, value = plot.channels.get("x"), plot.value
    if plot.type == "arc" and value is not None and not _is_whole(value):
        _as_bars(plot, value)
    is_bar = plot.type == "bar" and x is not None and x is not value
    if is_bar and x is not None and x.role is Role.MEASURE and not x.definition.get("aggregate"):
        x.role = Role.CATEGORY
    value = plot.value
    if plot.type == "area" and value and not value.is_additive and "color" in plot.channels:
        plot.mark["type"] = "line"
        plot.notes.append(f"Lines, because {value.column or 'it'} does not add up.")


def _is_whole(value: Channel) -> bool:
    numbers = [n for cell in value.cells if (n := as_number(cell)) is not None]
    if any(number < 0 for number in numbers):
        return False
    return value.is_additive or are_parts_of_a_whole(numbers)


def _as_bars(plot: Plot, value: Channel) -> None:
    colour = plot.channels.get("color")
    if colour is None or {"x", "y"} & set(plot.channels):
        return
    plot.mark = {"type": "bar"}
    del plot.channels["color"], plot.channels["theta"]
    colour.name, value.name = "x", "y"
    plot.channels = {"x": colour, "y": value, **plot.channels}
    plot.notes.append(f"Bars, because {value.column} has no parts of a whole for slices.")


def _place_in_time(plot: Plot, channel: Channel, found: times.Times) -> None:
    """Turn the cells into moments along an axis, or into the names of days and months."""
    given = channel.definition.get("timeUnit", "")
    channel.unit = given or found.unit
    if found.zone and not channel.definition.get("title"):
        channel.title = f"{channel.title} ({found.zone})"
    missing = sum(moment is None for moment in found.moments)
    if missing:
        rows = "1 row has" if missing == 1 else f"{plot.count(missing)} rows have"
        plot.notes.append(f"{rows} no time in {channel.column} that can be drawn.")
    unit = channel.unit
    if _is_axis(plot, channel, found.moments):
        channel.cells = [None if m is None else times.truncate(m, unit) for m in found.moments]
        return
    channel.role = Role.CATEGORY
    names = [None if m is None else times.label(m, unit, plot.locale) for m in found.moments]
    pairs = zip(names, found.moments, strict=True)
    channel.keys = {n: times.position(m, unit) for n, m in pairs if n is not None and m is not None}
    channel.is_time, channel.is_cyclic, channel.form = True, unit in times.CYCLES, (unit,)
    channel.cells = [NOTHING if name is None else name for name in names]


def _is_axis(plot: Plot, channel: Channel, moments: Sequence[times.Moment | None]) -> bool:
    """Return whether times are drawn along an axis, with gaps, and not as names side by side."""
    is_name = channel.definition.get("type") in ("nominal", "ordinal")
    if channel.name not in ("x", "y") or channel.unit in times.CYCLES or is_name:
        return False
    if plot.type != "bar":
        return True
    if plot.is_grouped:
        return False
    known = [moment for moment in moments if moment is not None]
    span = (max(known) - min(known)).days if known else 0
    return channel.unit not in ("yearmonthdate", "") or 0 < span <= _MOST_DAYS


def _name(channel: Channel) -> None:
    """Write the cells of a category as texts, and find their places in the calendar."""
    are_numbers = all(
        isinstance(cell, int | float | None) and not isinstance(cell, bool)
        for cell in channel.cells
    )
    numbers = {float(cell) for cell in channel.cells if are_numbers and cell is not None}
    channel.cells = [_text(cell) for cell in channel.cells]
    known = [cell for cell in channel.distinct() if cell != NOTHING]
    if numbers and channel.definition.get("type") != "nominal":
        channel.keys = {_text(number): (number,) for number in numbers}
        channel.is_time = channel.is_cyclic = is_time(channel.column, channel.kind)
    elif positions := calendar_keys(known):
        channel.keys = {cell: p.key for cell, p in zip(known, positions, strict=True)}
        channel.is_time, channel.form = True, positions[0].form
        channel.is_cyclic = all(position.is_cyclic for position in positions)


def _text(cell: Cell) -> str:
    if cell is None:
        return NOTHING
    if isinstance(cell, bool):
        return str(cell).lower()
    is_whole = isinstance(cell, float) and cell.is_integer()
    return _printable(str(int(cell)) if is_whole else str(cell))


def _title_of(column: str) -> str:
    """Return the name of a column for people; engines name a count without an alias so."""
    is_count = column.lower() in ("", "count_star()", "count(*)")
    return "Number of rows" if is_count else _printable(column)


def _printable(text: str) -> str:
    """Return a text without control characters, which no picture can hold."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
