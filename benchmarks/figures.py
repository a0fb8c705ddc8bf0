"""Measured figures with their peers and targets, and the table that shows them."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Target:
    """The target of a value: `good` and the stricter `goal`, as upper or lower bounds."""

    good: float
    goal: float
    unit: str = ""
    at_least: bool = False

    def verdict(self, value: float) -> str:
        """Return which bound the value reaches."""
        if self._reaches(value, self.goal):
            return "goal"
        return "good" if self._reaches(value, self.good) else "missed"

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.good:g}{self.unit} / {sign} {self.goal:g}{self.unit}"

    def _reaches(self, value: float, bound: float) -> bool:
        return value >= bound if self.at_least else value <= bound


@dataclass(frozen=True)
class Figure:
    """One line of the table; without a target it is for information only."""

    claim: str
    what: str
    ours: str
    peer: str = ""
    value: float | None = None
    target: Target | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of the line as text."""
        value = "" if self.value is None else number(self.value)
        verdict = ""
        if self.target and self.value is not None:
            verdict = self.target.verdict(self.value)
        return (
            self.claim,
            self.what,
            self.ours,
            self.peer,
            value,
            str(self.target or ""),
            verdict,
        )


@dataclass
class Samples:
    """Seconds of repeated runs."""

    seconds: list[float] = field(default_factory=list)

    def add(self, run: Callable[[], T]) -> T:
        """Run it once, record its duration, and return its result."""
        started = time.perf_counter()
        given = run()
        self.seconds.append(time.perf_counter() - started)
        return given

    @property
    def median(self) -> float:
        """The median in milliseconds."""
        return statistics.median(self.seconds) * 1e3

    def __str__(self) -> str:
        """The median and the spread of the middle half, in milliseconds."""
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return f"{number(self.median)} ms ({number(low * 1e3)} to {number(high * 1e3)})"


HEAD = ("#", "what", "Colloquy", "peer", "value", "good / goal", "reached")


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as an aligned Markdown table."""
    rows = [HEAD, *(figure.cells for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def number(value: float) -> str:
    """Return the value with three significant digits, or with separators if it is large."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
