"""A worker is killed with many turns in flight: each goes on soon, and none of its calls twice."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.chaos.checks.checker import check
from tests.chaos.checks.turns import P50_SECONDS, P99_SECONDS, percentile, recovery_times
from tests.chaos.conftest import RunRecord
from tests.chaos.staging.clients import Caller
from tests.chaos.staging.model import Steady
from tests.chaos.staging.records import Disturbed
from tests.chaos.staging.stage import Stage, open_stage

# On two cores, one survivor alone takes 1.6 to 2.8 s for the hundredth of two hundred.
CROWDED = (200, 1)
# So long that all turns are in their slow call when the worker dies.
TOOL_SECONDS, TOOL_SECONDS_OF_ONE = 20.0, 10.0


@pytest.mark.chaos
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("turns", "survivors"), [(1, 1), (50, 1), (200, 2), CROWDED])
def test_turns_of_a_killed_worker_go_on_soon(
    turns: int, survivors: int, tmp_path: Path, record: RunRecord
) -> None:
    room = {"WORKER_TURNS": str(turns), "USER_TURNS_AT_ONCE": str(turns)}
    with open_stage(tmp_path, workers=1, has_proxies=False, **room) as stage:
        slow = TOOL_SECONDS_OF_ONE if turns == 1 else TOOL_SECONDS
        stage.model.steps = Steady(stage.history, pace=0, slow=slow)
        ids = _submit(stage, turns)
        stage.wait_for(lambda: len(stage.effects.ran) == 4 * turns, "not all calls began", 120)
        time.sleep(1)
        _kill_first_worker(stage, survivors)
        ends = [Caller(stage.public_url, stage.history).wait(turn_id) for turn_id in ids]
        history = stage.collect()

    times = sorted(recovery_times(history))
    p50, p99 = percentile(times, 50), percentile(times, 99)
    acts = [ran.key for ran in history.ran if ran.name == "act"]
    record.add(
        "SIGKILL of a worker with turns in flight",
        f"- {turns} turns, {survivors} left to take them: next attempt after p50 {p50:.2f} s,"
        f" p99 {p99:.2f} s; {len(acts)} acts for {len(set(acts))} calls",
    )
    assert set(ends) == {"succeeded"}
    assert len(times) == turns
    assert len(acts) == len(set(acts)) == 2 * turns
    violations = check(history)
    of_the_median = [f"P17: half of the lost turns waited {p50:.1f} s"]
    if (turns, survivors) == CROWDED and violations == of_the_median:
        pytest.xfail(f"one survivor alone: the median is {p50:.2f} s")
    assert violations == []
    assert (p50 <= P50_SECONDS, p99 <= P99_SECONDS) == (True, True), (p50, p99)


def _submit(stage: Stage, turns: int) -> list[str]:
    caller = Caller(stage.public_url, stage.history)

    def submit(number: int) -> str:
        said = caller.submit(f"turn k{number} please", None, f"k{number}")
        assert said is not None
        return said.turn_id

    with ThreadPoolExecutor(10) as pool:
        return list(pool.map(submit, range(turns)))


def _kill_first_worker(stage: Stage, survivors: int) -> None:
    """Kill the worker that runs all; those that have just come take over."""
    first = stage.workers[0]
    for _ in range(survivors):
        stage.start_worker()
    all_of_them = 1 + survivors
    stage.wait_for(
        lambda: len(stage.redis.keys("colloquy:worker:*")) == all_of_them, "no other workers"
    )
    started = time.time()
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    stage.workers.remove(first)
    stage.history.add(Disturbed("kill-worker", "0", started, time.time(), (str(first.pid),)))
