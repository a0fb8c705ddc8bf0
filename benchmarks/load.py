"""Load: so many clients, spread over as many processes as there are cores, do one thing at once."""

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
# Opens what these of so many clients share in one process, and gives an act for each of them.
Clients = Callable[[Sequence[int], int], Opened]
PROCESSES = os.cpu_count() or 1
READY_SECONDS = 120.0
_ready: Any = None  # the barrier at which the processes of a crowd wait for each other


@dataclass(frozen=True)
class Done:
    """What the clients have done, one word of each act, and in how many seconds."""

    words: list[str]
    seconds: float

    @property
    def rate(self) -> float:
        """Acts per second."""
        return len(self.words) / self.seconds


@contextmanager
def crowd() -> Iterator[ProcessPoolExecutor]:
    """The processes, kept from case to case, so that none is measured while it imports."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES, timeout=READY_SECONDS)
    with ProcessPoolExecutor(
        PROCESSES, mp_context=context, initializer=_meet_at, initargs=(barrier,)
    ) as processes:
        yield processes


def let_act(processes: ProcessPoolExecutor, clients: Clients, count: int, seconds: float) -> Done:
    """Let `count` clients act for so long, once all of them have their connections."""
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
