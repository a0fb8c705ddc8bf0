"""The order of categories: that of the rows, or of time; by the alphabet or by value only if asked.

Pure. Months and weekdays are in the order of the calendar, unless the rows begin elsewhere (a
fiscal year, a week from Sunday) or rank bars by their value. A line is always along time.
"""

from collections.abc import Sequence

from backend.tabular.charts.calendar import Position, is_in_order
from backend.tabular.charts.limits import are_ranked, weights_of
from backend.tabular.charts.plot import PATHS, Channel, Plot
from backend.tabular.locales import NOTHING

_BY_VALUE = ("x", "y", "-x", "-y")


def order_of(plot: Plot, channel: Channel) -> list[str]:
    """Return the categories of a channel in the order in which they are drawn."""
    return sorted(_order(plot, channel), key=lambda cell: cell == plot.others)


def _order(plot: Plot, channel: Channel) -> list[str]:
    cells = channel.distinct()
    asked = channel.definition.get("sort", "")
    is_path = plot.type in PATHS and channel.name in ("x", "y")
    if asked is None:
        return cells
    if asked in ("ascending", "descending"):
        known = sorted(cells, key=lambda cell: (channel.keys.get(cell, ()), cell.casefold()))
        return known[::-1] if asked == "descending" else known
    if asked in _BY_VALUE and not (channel.keys and is_path):
        weights = weights_of(plot, channel)
        return sorted(cells, key=lambda cell: weights[cell], reverse=asked.startswith("-"))
    if not channel.keys or _is_kept(plot, channel, cells, is_path=is_path):
        return cells
    return sorted(cells, key=lambda cell: (cell not in channel.keys, channel.keys.get(cell, ())))


def _is_kept(plot: Plot, channel: Channel, cells: Sequence[str], *, is_path: bool) -> bool:
    """Return whether the rows have an order that is meant: of time, or a ranking of bars."""
    known = [cell for cell in cells if cell != NOTHING]
    positions = [Position(channel.form, channel.keys[c], channel.is_cyclic) for c in known]
    if is_in_order(positions):
        return True
    if is_path or channel.name not in ("x", "y"):
        return False
    weights = weights_of(plot, channel)
    return is_in_order(positions[::-1]) or are_ranked([weights[cell] for cell in known])
