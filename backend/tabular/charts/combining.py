"""Rows that are one bar, point or slice: combined by an aggregate that is named, never silently.

Pure. What nobody asked for is said: a sum, or the mean of what cannot be added up.
"""

from backend.tabular.charts.measures import NAMES, figure
from backend.tabular.charts.plot import Channel, Plot, Role

_COMBINED = ("bar", "line", "area", "arc")
_UNITS = {
    "year": "year",
    "quarter": "quarter",
    "yearquarter": "quarter",
    "month": "month",
    "yearmonth": "month",
    "yearmonthdate": "day",
    "date": "day of the month",
}
_IDENTITIES = ("sum", "mean", "median", "min", "max")  # of one row


def combine(plot: Plot) -> None:
    """Combine the rows whose other channels are equal, and name what the figures are."""
    measures = plot.of(Role.MEASURE, Role.COUNT)
    if plot.of(Role.BINNED):
        return  # Vega counts what falls into bins
    if plot.type in ("line", "area") and len(measures) > 1 and "x" in plot.channels:
        measures = [measure for measure in measures if measure.name != "x"]
    value = plot.value
    is_asked = any(measure.definition.get("aggregate") for measure in measures)
    is_heat = plot.type == "rect" and value is not None
    if not measures or not (is_asked or plot.type in _COMBINED or is_heat):
        return
    others = [channel for channel in plot.channels.values() if channel not in measures]
    groups: dict[tuple[object, ...], list[int]] = {}
    for row in range(plot.rows):
        groups.setdefault(tuple(channel.cells[row] for channel in others), []).append(row)
    has_several = len(groups) < plot.rows
    for measure in measures:
        _combine(plot, measure, others, list(groups.values()), has_several=has_several)
    for channel in others:
        channel.cells = [channel.cells[rows[0]] for rows in groups.values()]


def _combine(
    plot: Plot,
    measure: Channel,
    others: list[Channel],
    groups: list[list[int]],
    *,
    has_several: bool,
) -> None:
    asked = measure.definition.get("aggregate", "")
    if not has_several and (not asked or asked in _IDENTITIES):
        return
    if measure.role is Role.COUNT:
        measure.cells = [len(rows) for rows in groups]
        return
    chosen = asked or ("mean" if measure.is_rate else "sum")
    if asked == "sum" and measure.is_rate:
        chosen = "mean"
    measure.aggregate = chosen
    named = NAMES[chosen].format(measure.column)
    given = measure.definition.get("title")
    if given:
        measure.title = given if chosen == asked else f"{given} ({chosen})"
    else:
        measure.title = measure.measured(named)
    if chosen != asked:
        plot.notes.append(_said(named, chosen, others, measure.is_rate))
    measure.cells = [figure(chosen, [measure.cells[row] for row in rows]) for rows in groups]


def _name(channel: Channel) -> str:
    unit = _UNITS.get(channel.definition.get("timeUnit", ""), "")
    return f"{unit} of {channel.column}" if unit else channel.column or channel.title


def _said(named: str, chosen: str, others: list[Channel], is_a_rate: bool) -> str:
    by = " and ".join(dict.fromkeys(map(_name, others)))
    same = f" with the same {by}" if by else ""
    because = ": a rate, average or price is not added up" if is_a_rate else ""
    return f"{named[0].upper()}{named[1:]} of all rows{same}{because}."
