"""Work is done in another process, within its bounds, and yields to others."""

import asyncio
import os

import psutil
import pytest

from backend.errors.base import InvalidInput
from backend.sandbox.errors import (
    Killed,
    OutOfMemory,
    OutOfTime,
    ResultTooLarge,
    SandboxBusy,
    WorkFailed,
)
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox
from tests import sandboxed
from tests.sandboxed import AMPLE
from tests.unit.sandbox.processes import PATIENCE, start_in_thread, told_id, wait_for


def test_work_is_done_in_another_process_and_its_result_comes_back(sandbox):
    result = sandbox.run_blocking(sandboxed.add, [1], [2.5, None, "x"], bounds=AMPLE)
    process = asyncio.run(sandbox.run(sandboxed.own_id, bounds=AMPLE))

    assert result == [1, 2.5, None, "x"]
    assert process != os.getpid()


def test_an_error_of_ours_comes_back_as_itself(sandbox):
    with pytest.raises(InvalidInput, match=r"^Seven is too many\.$"):
        sandbox.run_blocking(sandboxed.refuse, bounds=AMPLE)


def test_another_error_is_told_without_its_text(sandbox, caplog):
    with pytest.raises(WorkFailed) as raised:
        sandbox.run_blocking(sandboxed.fail, "hunter2", bounds=AMPLE)

    assert "hunter2" not in repr(raised.value) + caplog.text
    assert "RuntimeError at" in caplog.text


def test_the_child_knows_no_secret_of_the_environment(sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2")
    fresh = Sandbox()

    environment = fresh.run_blocking(sandboxed.environment, bounds=AMPLE)
    fresh.close()

    assert "PATH" in environment
    assert "hunter2" not in repr(environment)


def test_work_yields_to_others_that_want_the_processor(sandbox):
    assert sandbox.run_blocking(sandboxed.niceness, bounds=AMPLE) > os.nice(0)


def test_work_beyond_its_time_is_ended(sandbox, tmp_path):
    with pytest.raises(OutOfTime):
        sandbox.run_blocking(sandboxed.wait, str(tmp_path / "told"), bounds=Bounds(3, 300))

    assert not psutil.pid_exists(told_id(tmp_path / "told"))


@pytest.mark.parametrize("work", [sandboxed.fill, sandboxed.fill_shared])
def test_work_beyond_its_memory_is_ended(sandbox, work):
    with pytest.raises(OutOfMemory):
        sandbox.run_blocking(work, 2000, bounds=Bounds(PATIENCE, 100))


def test_a_library_that_aborts_for_want_of_memory_is_told_as_that(sandbox):
    with pytest.raises(OutOfMemory):
        sandbox.run_blocking(os.abort, bounds=AMPLE)


def test_work_within_its_memory_goes_on(sandbox):
    assert sandbox.run_blocking(sandboxed.fill, 80, bounds=Bounds(PATIENCE, 100)) == 80


def test_a_child_that_is_killed_costs_its_own_work_only(sandbox):
    with pytest.raises(Killed):
        sandbox.run_blocking(sandboxed.kill_itself, bounds=AMPLE)

    assert sandbox.run_blocking(sandboxed.add, 1, 2, bounds=AMPLE) == 3


def test_a_result_that_is_too_large_is_refused(sandbox):
    with pytest.raises(ResultTooLarge):
        sandbox.run_blocking(sandboxed.give, 65 << 20, bounds=AMPLE)

    assert len(sandbox.run_blocking(sandboxed.give, 5 << 20, bounds=AMPLE)) == 5 << 20


def test_the_loop_goes_on_while_work_runs(sandbox, tmp_path):
    async def story():
        work = sandbox.run(sandboxed.hold_the_lock, str(tmp_path / "told"), bounds=Bounds(1, 300))
        task = asyncio.create_task(work)
        rounds = 0
        while not task.done():
            await asyncio.sleep(0.01)
            rounds += 1
        with pytest.raises(OutOfTime):
            await task
        return rounds

    assert asyncio.run(story()) > 10


def test_long_work_keeps_no_short_work_waiting(sandbox, tmp_path):
    async def story():
        long = [
            asyncio.create_task(
                sandbox.run(sandboxed.wait, str(tmp_path / str(n)), bounds=AMPLE, key=str(n))
            )
            for n in range(12)
        ]
        await asyncio.to_thread(wait_for, lambda: len(list(tmp_path.iterdir())) == 8)
        short = await sandbox.run(sandboxed.add, 1, 2, bounds=Bounds(5, 100))
        for task in long:
            task.cancel()
        await asyncio.gather(*long, return_exceptions=True)
        return short, await sandbox.run(sandboxed.add, 1, 3, bounds=AMPLE)

    assert asyncio.run(story()) == (3, 4)
    assert len(list(tmp_path.iterdir())) == 8


@pytest.mark.parametrize("keys", [[""], ["greedy"], ["greedy", "greedy reads"]])
def test_one_person_does_not_take_all_slots(sandbox, tmp_path, keys):
    async def story():
        greedy = [
            asyncio.create_task(
                sandbox.run(sandboxed.wait, str(tmp_path / f"{n} {key}"), bounds=AMPLE, key=key)
            )
            for n in range(12)
            for key in keys
        ]
        await asyncio.sleep(0)
        other = await sandbox.run(sandboxed.add, 1, 2, bounds=AMPLE, key="other")
        for task in greedy:
            task.cancel()
        await asyncio.gather(*greedy, return_exceptions=True)
        return other

    assert asyncio.run(story()) == 3


def test_who_waits_too_long_for_a_slot_is_told_so(tmp_path):
    sandbox = Sandbox()
    threads = [
        start_in_thread(
            sandbox, sandboxed.wait, str(tmp_path / str(n)), bounds=Bounds(5, 300), key=str(n)
        )
        for n in range(4)
    ]
    wait_for(lambda: len(list(tmp_path.iterdir())) == 4)

    with pytest.raises(SandboxBusy):
        sandbox.run_blocking(sandboxed.add, 1, 2, bounds=Bounds(0.1, 300))
    patient = sandbox.run(sandboxed.add, 1, 2, bounds=Bounds(2, 300), wait_seconds=PATIENCE)
    assert asyncio.run(patient) == 3
    sandbox.close()
    for thread in threads:
        thread.join(PATIENCE)
