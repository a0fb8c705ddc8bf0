"""Processes forked from one that has imported everything already.

A part that starts from nothing imports for some seconds, and tests start hundreds of them. What
runs is what `python -m NAME` runs, as a process of its own; only the imports are shared. That
everything also starts from nothing is the claim of `test_launch_stack.py`.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.stack import ROOT

READY_SECONDS = 30
_PARTS = [
    "backend.api.__main__",
    "backend.integrity.scan",
    "backend.llm.demo",
    "worker.__main__",
    "streamlit",
]
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(_PARTS)


def fork(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> "Forked":
    """Start `python -m NAME ...` in a group of its own, as `stack.launch` does."""
    mine, its = _context.Pipe(duplex=False)
    process = _context.Process(target=_run, args=(arguments, dict(environment), log, its))
    process.start()
    its.close()
    mine.poll(READY_SECONDS)  # its group exists now, and may be killed
    return Forked(process)


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


def _run(arguments: Sequence[str], environment: Mapping[str, str], log: Path, ready: Any) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    words = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for own in (1, 2):
        os.dup2(words, own)
    ready.send(None)
    ready.close()
    _, module, *rest = arguments
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
