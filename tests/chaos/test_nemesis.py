"""People talk while the nemesis strikes: short with every change, long before a release."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.chaos.conftest import RunRecord
from tests.chaos.staging.nemesis import KINDS, plan_faults
from tests.chaos.staging.runs import Plan, run

SHORT = Plan(seed=11, turns=40, every=2.5, most_seconds=40)
LONG = Plan(seed=2026, turns=1_050, people=10, workers=3, every=3.0, most_seconds=3_000)

# Seeds of runs that once broke a promise.
FOUND = (1, 2)


def test_a_seed_makes_one_schedule() -> None:
    assert plan_faults(7, 60, KINDS) == plan_faults(7, 60, KINDS)
    assert plan_faults(7, 60, KINDS) != plan_faults(8, 60, KINDS)


@pytest.mark.chaos
@pytest.mark.timeout(400)
def test_no_promise_is_broken_in_a_short_run(tmp_path: Path) -> None:
    outcome = run(SHORT, tmp_path)

    assert outcome.violations == [], outcome.text()


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", FOUND)
def test_no_promise_is_broken_where_one_was(seed: int, tmp_path: Path, record: RunRecord) -> None:
    outcome = run(replace(SHORT, seed=seed, turns=60, most_seconds=200), tmp_path)

    record.add("Runs of seeds that once broke a promise", *outcome.lines())
    assert outcome.violations == [], outcome.text()


@pytest.mark.chaos
@pytest.mark.timeout(5_400)
def test_no_promise_is_broken_in_a_thousand_turns(tmp_path: Path, record: RunRecord) -> None:
    outcome = run(LONG, tmp_path)

    record.add("A thousand turns under all faults", *outcome.lines())
    assert outcome.violations == [], outcome.text()
    assert outcome.accepted >= 1_000
