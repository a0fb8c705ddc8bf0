"""Distinguish a server that outlived its launcher from a stale pid file."""

import time
from pathlib import Path

import psutil

from launch.errors import AlreadyRunning

PATIENCE_SECONDS = 10.0


def wait_for_orphan(pid_file: Path, mark: str) -> None:
    """Wait until the server named in `pid_file` has ended; delete a stale file.

    A server whose launcher was killed is shutting down. `mark` is an argument that identifies its
    command line, because process ids are reused. Raise AlreadyRunning if the server stays.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while pid_file.exists():
        pid = find_server(pid_file, mark)
        if pid is None:
            pid_file.unlink(missing_ok=True)
        elif time.monotonic() > deadline:
            raise AlreadyRunning(
                f"A server started by another program (process {pid}) uses {pid_file.parent}. "
                "Stop it first."
            )
        else:
            time.sleep(0.05)


def find_server(pid_file: Path, mark: str) -> int | None:
    """Return the id of the running server named in `pid_file`, if it is that server."""
    try:
        pid = int(pid_file.read_text().split()[0])
        process = psutil.Process(pid)
        alive = mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, IndexError, psutil.Error):
        return None
    return pid if alive else None
