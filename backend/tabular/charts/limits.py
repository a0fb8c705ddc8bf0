"""How many categories a chart shows so that people can read it, and what it leaves out. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import fsum

from backend.tabular.charts.measures import as_number
from backend.tabular.charts.plot import PATHS, Channel, Plot, Role
from backend.tabular.locales import write_number

MOST_BARS = 30
MOST_NUMBERS = 120  # which have an order that a choice would break
MOST_COLOURS = 12
MOST_FACETS = 12
_LEAST_RANKED = 3


def limit(plot: Plot) -> None:
    """Keep the largest bars, colours and small charts; merge the rest where parts add up."""
    for name in ("column", "row"):
        _cut(plot, name, MOST_FACETS)
    if plot.type not in PATHS:
        for name in ("x", "y"):
            _cut(plot, name, MOST_BARS)
    _cut(plot, "color", MOST_COLOURS)


def weights_of(plot: Plot, channel: Channel) -> Mapping[str, float]:
    """Return the sum of what is drawn for each category; the number of rows without a measure."""
    value = plot.value
    sums: dict[str, list[float]] = defaultdict(list)
    for row, cell in enumerate(channel.cells):
        number = 1.0 if value is None else as_number(value.cells[row])
        sums[cell].append(float(number or 0.0))
    return {cell: fsum(numbers) for cell, numbers in sums.items()}


def are_ranked(weights: Sequence[float]) -> bool:
    """Return whether rows are ordered by their value, in either direction."""
    pairs = list(pairwise(weights))
    if len(weights) < _LEAST_RANKED or len(set(weights)) == 1:
        return False
    return all(a >= b for a, b in pairs) or all(a <= b for a, b in pairs)


def _cut(plot: Plot, name: str, most: int) -> None:
    channel = plot.channels.get(name)
    if channel is None or channel.role is not Role.CATEGORY:
        return
    if channel.keys and name in ("x", "y"):
        if channel.is_time:
            return  # time without its smaller months would be misread
        most = MOST_NUMBERS
    every = channel.distinct()
    if len(every) <= most:
        return
    weights = weights_of(plot, channel)
    is_merged = name == "color" and _is_whole(plot)
    shown = most - 1 if is_merged else most
    in_rows = [weights[cell] for cell in every]
    is_first = are_ranked(in_rows)
    largest = every if is_first else sorted(every, key=lambda cell: -abs(weights[cell]))
    kept = frozenset(largest[:shown])
    plot.notes.append(_said(plot, channel, weights, kept, is_first=is_first, is_merged=is_merged))
    if is_merged:
        plot.others = f"Other ({plot.count(len(every) - shown)})"
        _merge(plot, channel, kept, plot.others)
    else:
        plot.keep([row for row, cell in enumerate(channel.cells) if cell in kept])


def _is_whole(plot: Plot) -> bool:
    value = plot.value
    is_stacked = plot.type in ("bar", "area", "arc")
    return is_stacked and value is not None and value.is_additive


def _merge(plot: Plot, channel: Channel, kept: frozenset[str], other: str) -> None:
    """Draw the other categories as one, their values added up."""
    value = plot.value
    channel.cells = [cell if cell in kept else other for cell in channel.cells]
    rest = [c for c in plot.channels.values() if c is not value]
    groups: dict[tuple[object, ...], list[int]] = {}
    for row in range(plot.rows):
        groups.setdefault(tuple(one.cells[row] for one in rest), []).append(row)
    first = [rows[0] for rows in groups.values()]
    cells = [] if value is None else value.cells
    sums = [fsum(float(as_number(cells[row]) or 0) for row in rows) for rows in groups.values()]
    plot.keep(first)
    if value is not None:
        value.cells = list(sums)


def _said(
    plot: Plot,
    channel: Channel,
    weights: Mapping[str, float],
    kept: frozenset[str],
    *,
    is_first: bool,
    is_merged: bool,
) -> str:
    """Return which are shown, and what the others add up to where that means something."""
    value = plot.value
    which = "first" if is_first else "largest"
    whole, others = plot.count(len(weights)), plot.count(len(weights) - len(kept))
    text = f"The {which} {plot.count(len(kept))} of {whole} values of {channel.column}"
    if is_merged:
        return f"{text}; the other {others} are drawn together."
    if value is not None and value.is_additive:
        total = fsum(weight for cell, weight in weights.items() if cell not in kept)
        decimals = 0 if total.is_integer() else 2
        written = write_number(total, plot.locale, decimals)
        return f"{text}; the other {others} add up to {written} and are not drawn."
    return f"{text}; the other {others} are not drawn."
