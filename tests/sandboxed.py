"""Work for a sandbox: what children do in tests. It imports little, as each child imports it."""

import mmap
import os
import signal
import time
from pathlib import Path
from threading import Event

from backend.errors.base import InvalidInput
from backend.sandbox.child import on_stop
from backend.sandbox.messages import Bounds
from backend.sandbox.sandbox import Sandbox

AMPLE = Bounds(30, 300)


def add(left, right):
    return left + right


def own_id():
    return os.getpid()


def supervisor_id():
    return os.getppid()


def environment():
    return dict(os.environ)


def niceness():
    return os.nice(0)


def refuse():
    raise InvalidInput("Seven is too many.")


def fail(secret):
    raise RuntimeError(f"password={secret}")


def give(size):
    return b"x" * size


def fill(megabytes):
    parts = [b"x" * (1 << 20) for _ in range(megabytes)]
    return len(parts)


def fill_shared(megabytes):
    """Memory that no limit of private memory counts."""
    shared = mmap.mmap(-1, megabytes << 20)
    for place in range(0, megabytes << 20, 4096):
        shared[place] = 1
    return len(shared)


def kill_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def wait(told: str):
    """Say by a file that it runs, and never end."""
    Path(told).write_text(str(os.getpid()))
    while True:
        time.sleep(60)


def hold_the_lock(told: str):
    """Run in C without ever letting another thread run."""
    Path(told).write_text(str(os.getpid()))
    return sum(range(10**15))


def wait_politely(told: str, farewell: str):
    with on_stop(lambda: Path(farewell).write_text("bye")):
        wait(told)


def wait_stubbornly(told: str):
    with on_stop(lambda: time.sleep(60)):
        wait(told)


def keep_busy(told: str):
    """A parent that waits for a child: `python -c` runs it, and it is killed."""
    Sandbox().run_blocking(wait, told, bounds=AMPLE)


def fail_when_stopped():
    """Do what a server does for us, which ends it with an error when it is told goodbye."""
    ended = Event()

    def tell():
        ended.set()
        time.sleep(1)  # the process ends after this

    with on_stop(tell):
        ended.wait()
    raise InvalidInput("It was interrupted.")
