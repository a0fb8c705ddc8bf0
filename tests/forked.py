"""Processes forked from one that has imported everything already.

A part that starts from nothing imports for some seconds, and tests start hundreds of them. What
runs is what `python -m NAME` runs, as a process of its own; only the imports are shared. That
everything also starts from nothing is the claim of `tests/integration/launch/test_stack.py`.
"""

import multiprocessing
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from backend.sandbox.process import Process, SupervisorProcess, clean, launch
from backend.sandbox.supervisor import Supervisor
from tests.processes import ROOT

READY_SECONDS = 30
_PARTS = [
    "backend.api.__main__",
    "backend.data.preloaded",
    "backend.operations.integrity.scan",
    "backend.demo_model",
    "worker.__main__",
    "ui.__main__",
    "pandas",  # of all that pages import, what takes longest
    # What the API and the worker import when they have started.
    "anyio._backends._asyncio",
    "httpcore",
    "openai.resources.chat.chat",
    "psycopg2.extras",
]
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(_PARTS)


def fork(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> "Forked":
    """Start `python -m NAME ...` in a group of its own, as `processes.launch` does."""
    mine, its = _context.Pipe(duplex=False)
    process = _context.Process(target=_run, args=(arguments, dict(environment), log, its))
    with _no_main_module():
        process.start()
    its.close()
    mine.poll(READY_SECONDS)  # its group exists now, and may be killed
    return Forked(process)


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Hide the main module: children run its file first, and tests of pages put theirs there."""
    before = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = before


class Forked:
    """A started process, in the words of `subprocess.Popen`."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self.pid: int = process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, as far as that was asked for; a signal is negative."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """How it has ended; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return self._process.exitcode

    def terminate(self) -> None:
        """Send SIGTERM, if it still runs."""
        self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL, if it still runs."""
        self._process.kill()


class _SpareSupervisor:
    """A supervisor of the sandbox that was forked early, as the other parts are.

    Only the first one: if it is killed, another one starts from nothing.
    """

    def __init__(self) -> None:
        self._call, its = socket.socketpair()
        self._is_used = False
        self._process = os.fork()
        if not self._process:
            self._call.close()
            _wait_to_supervise(its)
        its.close()

    def launch(self, control: socket.socket, preload: Sequence[str]) -> Process:
        """Do what `process.launch` does."""
        if self._is_used:
            return launch(control, preload)
        self._is_used = True
        socket.send_fds(self._call, [b"!"], [control.fileno()])
        return self

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        deadline = time.monotonic() + (timeout or READY_SECONDS)
        while True:
            ended, status = os.waitpid(self._process, os.WNOHANG)
            if ended:
                return status
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("supervisor", timeout or 0.0)
            time.sleep(0.005)

    def kill(self) -> None:
        """Send SIGKILL."""
        os.kill(self._process, signal.SIGKILL)


def _wait_to_supervise(call: socket.socket) -> NoReturn:
    os.setsid()
    _, descriptors, _, _ = socket.recv_fds(call, 1, 1)
    if descriptors:
        import_module("backend.data.preloaded")
        kept = clean(os.environ)
        os.environ.clear()
        os.environ.update(kept)
        Supervisor(socket.socket(fileno=descriptors[0])).serve()
    os._exit(0)


def _run(arguments: Sequence[str], environment: Mapping[str, str], log: Path, ready: Any) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    words = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for own in (1, 2):
        os.dup2(words, own)
    SupervisorProcess.launch = staticmethod(_SpareSupervisor().launch)
    ready.send(None)
    ready.close()
    _, module, *rest = arguments
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
