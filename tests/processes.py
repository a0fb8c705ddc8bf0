"""Processes that tests start, and how they end."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import SystemRandom
from typing import Protocol

ROOT = Path(__file__).parent.parent


class Process(Protocol):
    """A started part, in the words of `subprocess.Popen`."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...


def launch(
    arguments: Sequence[str], environment: Mapping[str, str], log: Path, folder: Path = ROOT
) -> Process:
    """Start `python ARGUMENTS` in a group and a folder of its own, from nothing."""
    with log.open("ab") as words:
        return subprocess.Popen(
            [sys.executable, *arguments],
            env=environment,
            stdout=words,
            stderr=words,
            cwd=folder,
            start_new_session=True,
        )


def stop_process(process: Process) -> None:
    """End a process that this test run has started."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            kill_process(process)


def kill_process(process: Process) -> None:
    """End a process and its group at once."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_port() -> int:
    """Return a port that nobody has; not one of those that systems give to outgoing connections.

    One of those may be taken by any connection before the part that is to listen there has started.
    """
    while True:
        port = SystemRandom().randrange(20_000, 32_000)
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
