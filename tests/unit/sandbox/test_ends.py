"""A stop, a kill or a close leaves no process behind, and the sandbox goes on where it can."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from backend.data.sources import PRELOADED
from backend.sandbox.errors import Killed, OutOfTime
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox
from tests import sandboxed
from tests.processes import ROOT
from tests.sandboxed import AMPLE
from tests.unit.sandbox.processes import PATIENCE, start_in_thread, supervisor_of, told_id


async def cancel_when_running(sandbox, told, work, *arguments):
    """Cancel work once it runs; return how long its process lived on."""
    task = asyncio.create_task(sandbox.run(work, str(told), *arguments, bounds=AMPLE))
    child = psutil.Process(await asyncio.to_thread(told_id, told))
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(child.wait, PATIENCE)
    return time.monotonic() - began


@pytest.mark.parametrize(
    "work", [sandboxed.wait, sandboxed.hold_the_lock, sandboxed.wait_stubbornly]
)
def test_a_stop_ends_the_child_whatever_it_does(sandbox, tmp_path, work):
    lived_on = asyncio.run(cancel_when_running(sandbox, tmp_path / "told", work))

    assert lived_on < 5


def test_a_child_that_is_stopped_may_say_goodbye(sandbox, tmp_path):
    story = cancel_when_running(
        sandbox, tmp_path / "told", sandboxed.wait_politely, str(tmp_path / "farewell")
    )
    asyncio.run(story)

    assert (tmp_path / "farewell").read_text() == "bye"


def test_work_that_fails_because_it_is_stopped_for_its_time_is_out_of_time(sandbox):
    with pytest.raises(OutOfTime):
        sandbox.run_blocking(sandboxed.fail_when_stopped, bounds=Bounds(1, 300))


def test_a_supervisor_that_was_killed_is_started_again(tmp_path):
    sandbox = Sandbox()
    supervisor = supervisor_of(sandbox)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(
            sandbox.run_blocking, sandboxed.wait, str(tmp_path / "told"), bounds=AMPLE
        )
        child = psutil.Process(told_id(tmp_path / "told"))
        supervisor.kill()

        with pytest.raises(Killed):
            waiting.result(PATIENCE)
    child.wait(PATIENCE)

    assert sandbox.run_blocking(sandboxed.add, 1, 3, bounds=AMPLE) == 4
    sandbox.close()


def test_nothing_is_left_when_the_sandbox_is_closed(tmp_path):
    sandbox = Sandbox()
    supervisor = supervisor_of(sandbox)
    thread = start_in_thread(sandbox, sandboxed.wait_stubbornly, str(tmp_path / "told"))
    child = psutil.Process(told_id(tmp_path / "told"))

    sandbox.close()
    thread.join(PATIENCE)

    child.wait(PATIENCE)
    assert not supervisor.is_running()


def test_nothing_is_left_when_the_parent_is_killed(tmp_path):
    told = tmp_path / "told"
    code = f"from tests import sandboxed; sandboxed.keep_busy({str(told)!r})"
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    child = psutil.Process(told_id(told))
    supervisor = child.parent()

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    for process in (child, supervisor):
        process.wait(PATIENCE)


def test_a_sandbox_that_was_used_before_a_fork_works_on_both_sides(sandbox):
    assert sandbox.run_blocking(sandboxed.add, 1, 2, bounds=AMPLE) == 3
    process = os.fork()
    if not process:
        result = 0
        try:
            result = sandbox.run_blocking(sandboxed.add, 3, 4, bounds=AMPLE)
            sandbox.close()
        finally:
            os._exit(result)

    _, status = os.waitpid(process, 0)

    assert os.waitstatus_to_exitcode(status) == 7
    assert sandbox.run_blocking(sandboxed.add, 1, 2, bounds=AMPLE) == 3


def test_the_supervisor_has_one_thread_whatever_it_imports():
    sandbox = Sandbox(PRELOADED)
    sandbox.run_blocking(sandboxed.add, 1, 2, bounds=AMPLE)

    supervisor = supervisor_of(sandbox)

    assert supervisor.num_threads() == 1
    sandbox.close()
