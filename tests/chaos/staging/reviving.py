"""Somebody who starts again what has died, as every installation has."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.processes import Process
from tests.stack import Stack

LOOK_SECONDS = 0.1


def revive(stack: Stack) -> None:
    """Start again the API and the workers that have died."""
    for process in list(stack.workers):
        if process.poll() is not None:
            revive_worker(stack, process)
    if stack.api is None or stack.api.poll() is not None:
        stack.start_api()


def revive_worker(stack: Stack, process: Process) -> None:
    """Start a worker in place of one that has ended."""
    stack.workers.remove(process)
    stack.start_worker()


@contextmanager
def reviving(stack: Stack) -> Iterator[None]:
    """Do so all the time while the block runs."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(LOOK_SECONDS):
            revive(stack)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(timeout=60)
