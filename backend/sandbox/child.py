"""The process that does one piece of work, within limits enforced by the kernel, and exits."""

import ctypes
import os
import pickle
import resource
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from backend.errors.base import AppError
from backend.sandbox.errors import OutOfMemory, ResultTooLarge
from backend.sandbox.messages import Bounds, receive, send

MEGABYTE = 1 << 20
LARGEST_MESSAGE = 64 * MEGABYTE  # arguments or result, pickled
_LARGEST_FILE = 4 << 30
_TO_REPORT = 32 * MEGABYTE  # reserved, so that running out of memory can be reported
_NICE = 5
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG

_goodbyes: list[Callable[[], object]] = []
_stopped = threading.Event()


@contextmanager
def on_stop(goodbye: Callable[[], object]) -> Iterator[None]:
    """Call `goodbye` in another thread if the work is stopped while the block runs.

    It tells others that work for this process, such as a database; this process ends anyway.
    """
    _goodbyes.append(goodbye)
    try:
        yield
    finally:
        _goodbyes.remove(goodbye)


def serve(talk: socket.socket, bounds: Bounds, parent: int) -> None:
    """Read the work from `talk`, do it, and write the result there."""
    _die_with(parent)
    os.nice(_NICE)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=_obey, daemon=True).start()
    limit = _limit(bounds)
    try:
        reply = _answer(talk)
    except MemoryError:
        resource.setrlimit(resource.RLIMIT_DATA, (limit + _TO_REPORT, limit + _TO_REPORT))
        reply = pickle.dumps(("raised", OutOfMemory()))
    # What a goodbye has brought about is no answer: the supervisor says why the work was stopped.
    if not _stopped.is_set():
        send(talk, reply)


def _answer(talk: socket.socket) -> bytes:
    try:
        message = receive(talk, LARGEST_MESSAGE)
        work, arguments = pickle.loads(message)  # noqa: S301 - written by the parent
        reply = pickle.dumps(("result", work(*arguments)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise
    except AppError as error:
        reply = pickle.dumps(("raised", error))
    # Any other error is reported to the parent, which logs it.
    except Exception as error:  # noqa: BLE001
        reply = pickle.dumps(("failed", _place(error)))
    if len(reply) > LARGEST_MESSAGE:
        return pickle.dumps(("raised", ResultTooLarge()))
    return reply


def _place(error: Exception) -> str:
    """Return the error's type and place, but not its text, which may contain secrets."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    lines = ", ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {lines}"


def _obey() -> None:
    """Wait for the supervisor's SIGTERM, call the goodbyes, and end the process."""
    signal.sigwait({signal.SIGTERM})
    _stopped.set()
    for goodbye in tuple(_goodbyes):
        with suppress(Exception):  # a connection that is being closed may raise
            goodbye()
    os._exit(0)


def _die_with(parent: int) -> None:
    """End with the supervisor, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _limit(bounds: Bounds) -> int:
    """Set the kernel's limits; return the limit of private memory in bytes."""
    limit = private_memory("self")["VmData"] + bounds.megabytes * MEGABYTE
    _lower(resource.RLIMIT_DATA, limit, limit + _TO_REPORT)
    _lower(resource.RLIMIT_CORE, 0, 0)
    _lower(resource.RLIMIT_FSIZE, _LARGEST_FILE, _LARGEST_FILE)
    return limit


def _lower(which: int, soft: int, hard: int) -> None:
    with suppress(ValueError):  # the operator's own limit is lower
        resource.setrlimit(which, (soft, hard))


def private_memory(process: int | str) -> dict[str, int]:
    """Return a process's memory figures from /proc, in bytes by name.

    All are 0 for a process that has just ended, and on systems without /proc.
    """
    sizes: dict[str, Any] = {"VmData": 0, "RssAnon": 0, "RssShmem": 0}
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return sizes
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name in sizes:
            sizes[name] = int(value.split()[0]) * 1024
    return sizes
