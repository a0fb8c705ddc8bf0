"""A worker process's threads: one that falls is replaced, so that turns are always taken."""

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from backend.turns.run.runner import Runtime
from worker import threads

SECONDS = 10


def test_a_thread_that_falls_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    fallen: list[str] = []

    class Thread:
        last_cleaned_at = None

        def __init__(self, _: Any, name: str, stopping: threading.Event, __: Any) -> None:
            self.name, self._stopping = name, stopping

        def work_until_told(self) -> None:
            if len(fallen) < threads.FEWEST_WAITING:
                fallen.append(self.name)
                raise KeyError("what nobody foresaw")
            self._stopping.wait(SECONDS)

    monkeypatch.setattr(threads, "ThreadWorker", Thread)
    running = threads.WorkerThreads(cast(Runtime, SimpleNamespace(name="w")), capacity=4)
    running.start()
    deadline = time.monotonic() + SECONDS

    def waiting() -> set[str]:
        return {worker.name for worker in set(running._workers)} - set(fallen)

    while len(waiting()) < threads.FEWEST_WAITING and time.monotonic() < deadline:
        time.sleep(0.02)
    alive = waiting()
    running.stop()

    assert len(fallen) == len(alive) == threads.FEWEST_WAITING
