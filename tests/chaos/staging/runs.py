"""A run under faults: people talk, the nemesis strikes, the checker decides."""

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.checks.checker import check
from tests.chaos.checks.turns import percentile, recovery_times
from tests.chaos.staging.clients import Countdown, Person
from tests.chaos.staging.nemesis import KINDS, Nemesis, plan_faults
from tests.chaos.staging.records import History
from tests.chaos.staging.stage import Stage, open_stage

SETTLE_SECONDS = 90


@dataclass(frozen=True)
class Plan:
    """What a run is made from; the same seed makes the same messages, answers and faults."""

    seed: int
    turns: int
    people: int = 6
    workers: int = 2
    kinds: Sequence[str] = KINDS
    every: float = 2.0
    mishaps: float = 0.1
    most_seconds: float = 3_600


@dataclass
class Outcome:
    """What came of a run."""

    plan: Plan
    history: History
    seconds: float
    violations: list[str]
    complaints: list[str] = field(default_factory=list)

    @property
    def accepted(self) -> int:
        """How many turns clients were told of; some of them were deleted later."""
        return len({told.turn_id for told in self.history.submitted})

    def text(self) -> str:
        """The run in words, for a test that fails."""
        return "\n".join([*self.lines(), *self.complaints])

    def lines(self) -> list[str]:
        """The run in a few Markdown lines."""
        faults = Counter(fault.kind for fault in self.history.disturbed)
        ends = Counter(turn["status"] for turn in self.history.turns)
        attempts = Counter(turn["attempt"] for turn in self.history.turns)
        times = sorted(recovery_times(self.history, alone=False))
        lines = [
            f"- seed {self.plan.seed}, {self.accepted} turns of {self.plan.people} people"
            f" with {self.plan.workers} workers in {self.seconds:.0f} s",
            f"- turns that ended: {_counts(ends)}; by attempts: {_counts(attempts)}",
            f"- {len(self.history.ran)} tool runs, {len(self.history.said)} model answers,"
            f" {len(self.history.answered)} requests, {len(self.history.followed)} events told",
            f"- {sum(faults.values())} faults: {_counts(faults)}",
        ]
        if times:
            p50, p99 = percentile(times, 50), percentile(times, 99)
            lines.append(
                f"- next attempt after SIGKILL: p50 {p50:.2f} s, p99 {p99:.2f} s of {len(times)}"
            )
        lines.append(f"- violations: {len(self.violations)}")
        return [*lines, *(f"  - {violation}" for violation in self.violations[:50])]


def run(plan: Plan, home: Path, **environment: str) -> Outcome:
    """Carry a plan out on a stage of its own."""
    with open_stage(home, plan.seed, plan.workers, plan.mishaps, **environment) as stage:
        begun = time.monotonic()
        complaints = _let_people_talk(stage, plan)
        stage.settle(SETTLE_SECONDS)
        history = stage.collect()
        seconds = time.monotonic() - begun
        outcome = Outcome(plan, history, seconds, check(history), complaints)
        if outcome.violations:
            _keep(outcome, stage, home)
        return outcome


def _let_people_talk(stage: Stage, plan: Plan) -> list[str]:
    left = Countdown(plan.turns)
    people = [
        Person(number, plan.seed, stage.public_url, stage.history, left)
        for number in range(plan.people)
    ]
    faults = plan_faults(plan.seed, plan.most_seconds, plan.kinds, plan.every)
    with Nemesis(stage, faults) as nemesis:
        for person in people:
            person.start()
        deadline = time.monotonic() + plan.most_seconds
        while any(person.is_alive() for person in people):
            if left.is_empty or time.monotonic() > deadline:
                left.end()
                break
            time.sleep(0.2)
    for person in people:
        person.join(timeout=180)
    return nemesis.complaints


def _keep(outcome: Outcome, stage: Stage, home: Path) -> None:
    """Leave what is needed to understand a violation."""
    (home / "violations.txt").write_text("\n".join(outcome.violations + outcome.complaints))
    lines = [json.dumps(vars(record), default=str) for record in outcome.history.disturbed]
    (home / "faults.jsonl").write_text("\n".join(lines))
    notes = [json.dumps(vars(note), default=str) for note in outcome.history.notes]
    (home / "notes.jsonl").write_text("\n".join(notes))
    told = [json.dumps(vars(event), default=str) for event in outcome.history.followed]
    (home / "followed.jsonl").write_text("\n".join(told))


def _counts(counter: Counter) -> str:
    return ", ".join(f"{key} {count}" for key, count in sorted(counter.items())) or "none"
