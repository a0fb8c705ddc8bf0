"""A worker process's threads: one that falls is replaced, so that turns are always taken."""

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from backend.turns.run.runner import Runtime
from worker import threads

SECONDS = 30


class Thread:
    """Stands for an RQ worker in a thread; it works until it is told to stop or to leave."""

    last_cleaned_at = None

    def __init__(self, _: Any, name: str, stopping: threading.Event, *_more: Any) -> None:
        self.name, self._stopping = name, stopping
        self._left = threading.Event()

    def work_until_told(self) -> None:
        while not (self._stopping.is_set() or self._left.wait(0.02)):
            continue

    def leave(self) -> None:
        self._left.set()


def make_threads() -> threads.WorkerThreads:
    return threads.WorkerThreads(cast(Runtime, SimpleNamespace(name="w")), capacity=8)


def test_a_thread_that_falls_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    fallen: list[str] = []

    class Falling(Thread):
        def work_until_told(self) -> None:
            if len(fallen) < threads.FEWEST_WAITING:
                fallen.append(self.name)
                raise KeyError("what nobody foresaw")
            super().work_until_told()

    monkeypatch.setattr(threads, "ThreadWorker", Falling)
    running = make_threads()
    running.start()
    deadline = time.monotonic() + SECONDS

    def waiting() -> set[str]:
        return {worker.name for worker in set(running._workers)} - set(fallen)

    while len(waiting()) < threads.FEWEST_WAITING and time.monotonic() < deadline:
        time.sleep(0.02)
    alive = waiting()
    running.stop()

    assert len(fallen) == len(alive) == threads.FEWEST_WAITING


def test_turns_that_follow_each_other_start_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "ThreadWorker", Thread)
    running = make_threads()
    running.start()
    worker = next(iter(running._workers))
    known: set[str] = set()

    for _ in range(5):
        with running.at_work(worker):
            known |= {one.name for one in running._workers}

    assert len(known) == threads.FEWEST_WAITING + 1
    for one in set(running._workers):
        running.leave_if_spare(one)
    assert len(running._workers) == threads.FEWEST_WAITING
    running.stop()
