"""Tell a server that outlived its starter from a file that only names one."""

import time
from pathlib import Path

import psutil

from launch.errors import AlreadyRunning

PATIENCE_SECONDS = 10.0


def wait_for_orphan(pid_file: Path, mark: str) -> None:
    """Wait until the server that `pid_file` names has ended; clear a file that names none.

    A server whose starter was killed is on its way out. `mark` is the argument by which its
    command line is known, since process ids are used again. Raise AlreadyRunning if it stays.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while pid_file.exists():
        pid = _server_of(pid_file, mark)
        if pid is None:
            pid_file.unlink(missing_ok=True)
        elif time.monotonic() > deadline:
            raise AlreadyRunning(
                f"A server that another program started (process {pid}) uses {pid_file.parent}. "
                "Stop it first."
            )
        else:
            time.sleep(0.05)


def _server_of(pid_file: Path, mark: str) -> int | None:
    try:
        pid = int(pid_file.read_text().split()[0])
        process = psutil.Process(pid)
        alive = mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, IndexError, psutil.Error):
        return None
    return pid if alive else None
