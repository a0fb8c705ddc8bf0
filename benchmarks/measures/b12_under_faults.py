"""B12: correct turns per minute under faults ÷ without, in a run of the tests under faults.

The same people talk in the same way for the same time; the nemesis of those tests strikes in one
of the two runs: processes, servers and wires, at the pace of the tests, and at one a bad hour has.
A turn counts when it has ended as it should: answered, or stopped by the person. A run counts
when the checker of the tests finds no broken promise, after all faults are healed.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from tests.chaos.staging.records import History
from tests.chaos.staging.runs import Outcome, Plan, run

SEED = 12
SECONDS, MANY_SECONDS = 60, 900
STORM, BAD_HOUR = 2.5, 10.0  # seconds from fault to fault: that of the tests, and a quarter of it
NEVER = NO_END = 1_000_000


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Give the figures of this claim."""
    logging.disable()  # a tool server of the run logs each worker that is killed
    seconds = MANY_SECONDS if is_long else SECONDS
    calm = _talk(ground.home / "calm", seconds, every=NEVER)
    for name, every in (("bad hour", BAD_HOUR), ("storm of the tests", STORM)):
        rough = _talk(ground.home / name.split()[0], seconds, every)
        yield Figure(
            "B12",
            f"correct turns/minute, a fault each {every:g} s ({name}) ÷ without",
            f"{rough} ÷ {calm}",
            "",
            rough.rate / calm.rate,
            Target(0.7, 0.9, at_least=True),
        )


@dataclass(frozen=True)
class _Talk:
    """What came of a run."""

    outcome: Outcome
    correct: int
    minutes: float

    @property
    def rate(self) -> float:
        """Correct turns per minute."""
        return self.correct / self.minutes

    def __str__(self) -> str:
        faults = len(self.outcome.history.disturbed)
        told = f", {faults} faults, no promise broken" if faults else ""
        return f"{number(self.rate)} ({self.correct} turns{told})"


def _talk(home: Path, seconds: float, every: float) -> _Talk:
    home.mkdir()
    plan = Plan(SEED, NO_END, every=every, mishaps=0.0, most_seconds=seconds)
    outcome = run(plan, home)
    assert outcome.violations == [], outcome.text()
    until = outcome.history.submitted[0].at + seconds
    return _Talk(outcome, len(_correct(outcome.history, until)), seconds / 60)


def _correct(history: History, until: float) -> set[str]:
    """The turns that had ended as they should by then, by the database's own record."""
    stopped = {stop.turn_id for stop in history.stopped}
    return {
        note.row["id"]
        for note in history.notes
        if note.table == "turns" and note.op == "UPDATE" and note.at <= until
        if note.row["status"] == "succeeded"
        or (note.row["status"] == "stopped" and note.row["id"] in stopped)
    }
