"""A worker that is told to end does so, whatever it does just then and however it is told."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.launch.test_worker_loop import start_odd
from tests.processes import Process
from tests.stack import Servers, Stack
from worker.watchdog import EXIT_CODE

LONGEST = 30  # seconds that an end may take on a busy machine
SLOW = {"text": "word " * 40, "delay": 0.1}
STOPS = re.compile(r"Worker \S+ stops")
Tell = Callable[[int], None]


def once(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def twice(pid: int) -> None:
    once(pid)
    once(pid)


def as_make_does(pid: int) -> None:
    """The group gets Ctrl-C, and make passes it on as another signal."""
    os.killpg(pid, signal.SIGINT)
    os.kill(pid, signal.SIGTERM)


def group(pid: int) -> None:
    os.killpg(pid, signal.SIGTERM)
    time.sleep(0.02)
    os.killpg(pid, signal.SIGTERM)


def in_a_burst(pid: int) -> None:
    for _ in range(20):
        once(pid)


WAYS: tuple[Tell, ...] = (once, twice, as_make_does, group, in_a_burst)


@pytest.fixture
def api_only(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """An API whose workers have half a second for their turns when they must end."""
    settings = {"GRACE_SECONDS": "0.5", "LEASE_SECONDS": "300", "SWEEP_SECONDS": "0.3"}
    stack = make_stack(servers, model, tmp_path, **settings)
    try:
        stack.start_api()
        yield stack
    finally:
        stack.__exit__()


def tell(worker: Process, how: Tell) -> int:
    """Tell it, and return how it ended."""
    with suppress(ProcessLookupError):
        how(worker.pid)
    return worker.wait(timeout=LONGEST)


def is_run_by(stack: Stack, worker: Process) -> bool:
    """Whether this worker has all turns in hand."""
    owners = stack.query("SELECT coalesce(worker, '') FROM turns WHERE finished_at IS NULL")
    return all(f".{worker.pid}." in owner for (owner,) in owners)


def stops(worker: JSON) -> bool:
    """Whether it says that it takes no more turns."""
    return worker["is_draining"]


@pytest.mark.parametrize("how", WAYS, ids=lambda how: how.__name__)
def test_a_worker_with_turns_ends_and_loses_none(api_only: Stack, how: Tell) -> None:
    stack = api_only
    turns = [stack.submit(script(ENDLESS))["turn_id"] for _ in range(2)]
    worker = stack.start_worker()
    stack.wait_for(lambda: is_run_by(stack, worker), "the turns do not run")

    assert tell(worker, how) == 0

    rows = stack.query("SELECT worker FROM turns")
    assert [row.worker for row in rows] == [None, None]
    next_worker = stack.start_worker()
    stack.wait_for(lambda: is_run_by(stack, next_worker), "nobody goes on with the turns")
    assert [stack.turn(turn)["losses"] for turn in turns] == [0, 0]


@pytest.mark.chaos
def test_a_worker_ends_at_any_moment_of_its_life(api_only: Stack) -> None:
    stack, chance = api_only, Random(39)
    turn = stack.submit(script(ENDLESS))["turn_id"]
    ends: list[int] = []

    for number in range(80):
        worker = stack.start_worker()
        time.sleep(chance.uniform(0, 2.5))
        ends.append(tell(worker, WAYS[number % len(WAYS)]))

    # Before it listens for signals, they end it as they end any process.
    assert set(ends) <= {0, 1, -signal.SIGTERM, -signal.SIGINT} and ends.count(0) > 40
    stack.start_worker()
    stack.wait_for(lambda: is_run_by(stack, stack.workers[-1]), "the turn does not go on")
    assert stack.turn(turn)["status"] == "running"


def test_running_turns_have_the_time_that_is_set_and_no_turn_is_taken_meanwhile(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, GRACE_SECONDS="60", LEASE_SECONDS="300") as stack:
        running = stack.submit(script(SLOW))["turn_id"]
        stack.wait_for(lambda: stack.turn(running)["status"] == "running", "it does not run")

        once(stack.workers[0].pid)
        stack.wait_for(lambda: STOPS.search(stack.log.read_text()), "it does not hear the signal")
        later = [stack.submit(script({"text": "later"}))["turn_id"] for _ in range(6)]
        (worker,) = stack.wait_for(
            lambda: [one for one in stack.client.get("/work").json()["workers"] if stops(one)],
            "the worker does not say that it stops",
        )
        ended = stack.finished(running)

        assert worker["turns"] == 1
        assert (ended["status"], ended["attempts"]) == ("succeeded", 1)
        assert stack.workers[0].wait(timeout=LONGEST) == 0
        assert [stack.turn(turn)["attempts"] for turn in later] == [0] * 6
        stack.start_worker()
        assert [stack.finished(turn)["status"] for turn in later] == ["succeeded"] * 6


def test_an_end_that_hangs_is_forced_and_says_where_it_hung(api_only: Stack) -> None:
    start_odd(api_only, 60)
    (worker,) = api_only.workers
    os.kill(worker.pid, signal.SIGUSR2)  # its last line will hang

    assert tell(worker, once) == EXIT_CODE
    said = api_only.log.read_text()
    assert "This worker was to end and does not" in said and "in hang" in said


@pytest.mark.chaos
def test_a_worker_whose_words_nobody_reads_ends(api_only: Stack, tmp_path: Path) -> None:
    pipe = tmp_path / "words"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    worker = Stack.launch(["-m", "worker"], api_only.environment, pipe)
    api_only.workers.append(worker)
    api_only.wait_ready()
    with suppress(BlockingIOError):
        while os.write(reader, b"x" * 1024):
            continue

    assert tell(worker, twice) == EXIT_CODE
    os.close(reader)
