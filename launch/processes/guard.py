"""End the children of a launcher that was killed, where the kernel cannot: a process that watches.

Linux tells children of their parent's death (`launch.processes.children`). Elsewhere this module
runs as `python -m launch.processes.guard` and reads lines `PID SIGNAL` from its standard input,
which ends when the launcher does.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable

from launch.processes.children import KERNEL_TELLS_CHILDREN


class Guard:
    """The launcher's end of the watch."""

    def __init__(self, needed: bool = not KERNEL_TELLS_CHILDREN) -> None:
        self._process: subprocess.Popen[str] | None = None
        if needed:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "launch.processes.guard"],
                stdin=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )

    def watch(self, pid: int, end: signal.Signals) -> None:
        """End `pid` by the signal `end` should this process vanish."""
        if self._process and self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.write(f"{pid} {int(end)}\n")
                self._process.stdin.flush()

    def dismiss(self) -> None:
        """All is stopped: there is nothing to watch any more."""
        if self._process:
            self._process.kill()
            self._process.wait()


def end_all(lines: Iterable[str]) -> None:
    """Read who is watched until the input ends, then end them, the latest first."""
    watched = [line.split() for line in lines]
    for pid, number in reversed(watched):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(int(pid), int(number))


if __name__ == "__main__":
    end_all(sys.stdin)
