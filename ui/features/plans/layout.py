"""The layout of a plan's picture: each task is to the right of all its dependencies. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.schemas.tasks import Task

WIDTH, HEIGHT = 160, 74
GAP_X, GAP_Y = 36, 14
EDGE = 6
MOST_CENTRED = 8  # tasks in a column


@dataclass(frozen=True)
class Layout:
    """The places of tasks by id, the lines between them as SVG paths, and the picture's size."""

    places: Mapping[str, tuple[int, int]]
    lines: Sequence[str]
    width: int
    height: int


def lay_out(tasks: Sequence[Task]) -> Layout:
    """Return the layout of a plan: a column per level, each task near its dependencies."""
    levels = _levels(tasks)
    columns: dict[int, list[Task]] = defaultdict(list)
    for task in tasks:
        columns[levels[task.temp_id]].append(task)
    rows: dict[str, float] = {}
    places: dict[str, tuple[int, int]] = {}
    tallest = max((len(column) for column in columns.values()), default=0)
    for level in sorted(columns):
        column = sorted(columns[level], key=lambda task: _wanted_row(task, rows))
        # A very tall plan is aligned at the top, because its middle may be out of view.
        first = (tallest - len(column)) / 2 if tallest <= MOST_CENTRED else 0
        for number, task in enumerate(column):
            rows[task.temp_id] = first + number
            x = EDGE + level * (WIDTH + GAP_X)
            places[task.temp_id] = (x, EDGE + round((first + number) * (HEIGHT + GAP_Y)))
    width = 2 * EDGE + len(columns) * (WIDTH + GAP_X) - GAP_X if columns else 0
    height = 2 * EDGE + tallest * (HEIGHT + GAP_Y) - GAP_Y if columns else 0
    return Layout(places, list(_lines(tasks, places)), width, height)


def _levels(tasks: Sequence[Task]) -> dict[str, int]:
    """Return the level of each task, its longest chain of dependencies; a cycle counts once."""
    waits = {task.temp_id: set(task.depends_on) for task in tasks}
    levels: dict[str, int] = {}
    while len(levels) < len(waits):
        ready = [one for one in waits if one not in levels and _is_ready(waits[one], levels, waits)]
        for one in ready or [one for one in waits if one not in levels]:
            levels[one] = 1 + max((levels.get(before, -1) for before in waits[one]), default=-1)
    return levels


def _is_ready(waits: set[str], levels: Mapping[str, int], known: Mapping[str, object]) -> bool:
    return all(before in levels for before in waits if before in known)


def _wanted_row(task: Task, rows: Mapping[str, float]) -> float:
    before = [rows[one] for one in task.depends_on if one in rows]
    return sum(before) / len(before) if before else 0


def _lines(tasks: Sequence[Task], places: Mapping[str, tuple[int, int]]) -> list[str]:
    lines = []
    for task in tasks:
        x, y = places[task.temp_id]
        end_y = y + HEIGHT // 2
        for before in task.depends_on:
            if before in places:
                from_x, from_y = places[before][0] + WIDTH, places[before][1] + HEIGHT // 2
                bend = from_x + (x - from_x) // 2
                lines.append(f"M{from_x},{from_y} C{bend},{from_y} {bend},{end_y} {x},{end_y}")
    return lines
