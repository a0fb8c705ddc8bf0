"""A process that ends the children of a killed launcher on systems whose kernel cannot.

Linux signals children when their parent dies (`launch.processes.children`). Elsewhere this module
runs as `python -m launch.processes.guard` and reads lines `PID SIGNAL` from its standard input,
which is closed when the launcher ends.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterable

from launch.processes.children import KERNEL_TELLS_CHILDREN


class Guard:
    """The launcher's handle on the guard process."""

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
        """Have `pid` ended by the signal `end` if this process dies."""
        if self._process and self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.write(f"{pid} {int(end)}\n")
                self._process.stdin.flush()

    def dismiss(self) -> None:
        """End the guard, once all children have been stopped."""
        if self._process:
            self._process.kill()
            self._process.wait()


def end_all(lines: Iterable[str]) -> None:
    """Read the watched processes until the input ends, then end them, the latest first."""
    watched = [line.split() for line in lines]
    for pid, number in reversed(watched):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(int(pid), int(number))


if __name__ == "__main__":
    end_all(sys.stdin)
