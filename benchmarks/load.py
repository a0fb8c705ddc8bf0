"""Load generation: clients, spread over one process per core, act concurrently."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

Act = Callable[[], str]
Opened = AbstractContextManager[list[Act]]
# Opens what a process's share of all clients has in common, and returns an act for each of them.
Clients = Callable[[Sequence[int], int], Opened]
PROCESSES = os.cpu_count() or 1
READY_SECONDS = 120.0
_ready: Any = None  # the barrier at which all processes wait for each other


@dataclass(frozen=True)
class Done:
    """The results of all acts of the clients, and the seconds they took."""

    words: list[str]
    seconds: float

    @property
    def rate(self) -> float:
        """Acts per second."""
        return len(self.words) / self.seconds


@contextmanager
def crowd() -> Iterator[ProcessPoolExecutor]:
    """Open the processes, reused in all cases so that imports are not measured."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES, timeout=READY_SECONDS)
    with ProcessPoolExecutor(
        PROCESSES, mp_context=context, initializer=_meet_at, initargs=(barrier,)
    ) as processes:
        yield processes


def let_act(processes: ProcessPoolExecutor, clients: Clients, count: int, seconds: float) -> Done:
    """Let `count` clients act for `seconds`, once all of them are connected."""
    shares = [range(count)[place::PROCESSES] for place in range(PROCESSES)]
    running = [
        processes.submit(_act_together, partial(clients, share, count), seconds) for share in shares
    ]
    return Done([word for share in running for word in share.result()], seconds)


def _meet_at(barrier: Any) -> None:
    global _ready
    _ready = barrier


def _act_together(clients: Callable[[], Opened], seconds: float) -> list[str]:
    with clients() as acts:
        words: list[list[str]] = [[] for _ in acts]
        _ready.wait()
        end = time.monotonic() + seconds
        threads = [
            threading.Thread(target=_act, args=(act, said, end))
            for act, said in zip(acts, words, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [word for said in words for word in said]


def _act(act: Act, said: list[str], end: float) -> None:
    while time.monotonic() < end:
        said.append(act())
