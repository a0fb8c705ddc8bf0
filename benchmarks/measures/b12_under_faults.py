"""B12: correct turns per minute under faults ÷ without, in a run of the fault-injection tests.

The same clients send the same messages for the same time. In one of the two runs the tests' nemesis
injects faults into processes, servers and connections, at the pace of the tests and at that of a
bad hour. A turn counts if it ended correctly: answered, or stopped by the person. A run counts if
the tests' checker finds no violated guarantee after all faults have been healed.
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
STORM, BAD_HOUR = 2.5, 10.0  # seconds between faults: as in the tests, and a quarter as often
NEVER = NO_END = 1_000_000


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    logging.disable()  # a tool server of the run would log each killed worker
    seconds = MANY_SECONDS if is_long else SECONDS
    calm = _talk(ground.home / "calm", seconds, every=NEVER)
    for name, every in (("bad hour", BAD_HOUR), ("storm of the tests", STORM)):
        rough = _talk(ground.home / name.split()[0], seconds, every)
        yield Figure(
            "B12",
            f"correct turns/minute, a fault every {every:g} s ({name}) ÷ without",
            f"{rough} ÷ {calm}",
            "",
            rough.rate / calm.rate,
            Target(0.7, 0.9, at_least=True),
        )


@dataclass(frozen=True)
class _Talk:
    """The result of a run."""

    outcome: Outcome
    correct: int
    minutes: float

    @property
    def rate(self) -> float:
        """Correct turns per minute."""
        return self.correct / self.minutes

    def __str__(self) -> str:
        faults = len(self.outcome.history.disturbed)
        told = f", {faults} faults, no guarantee violated" if faults else ""
        return f"{number(self.rate)} ({self.correct} turns{told})"


def _talk(home: Path, seconds: float, every: float) -> _Talk:
    home.mkdir()
    plan = Plan(SEED, NO_END, every=every, mishaps=0.0, most_seconds=seconds)
    outcome = run(plan, home)
    assert outcome.violations == [], outcome.text()
    until = outcome.history.submitted[0].at + seconds
    return _Talk(outcome, len(_correct(outcome.history, until)), seconds / 60)


def _correct(history: History, until: float) -> set[str]:
    """Return the turns that had ended correctly by `until`, according to the database."""
    stopped = {stop.turn_id for stop in history.stopped}
    return {
        note.row["id"]
        for note in history.notes
        if note.table == "turns" and note.op == "UPDATE" and note.at <= until
        if note.row["status"] == "succeeded"
        or (note.row["status"] == "stopped" and note.row["id"] in stopped)
    }
