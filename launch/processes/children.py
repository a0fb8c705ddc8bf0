"""Start a child process that ends when its parent does, however the parent ends."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from launch.accounts import Account

PR_SET_PDEATHSIG = 1
PRIVATE_UMASK = 0o077
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
KERNEL_TELLS_CHILDREN = LIBC is not None


def start_child(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    output: IO[bytes] | int,
    death_signal: signal.Signals = signal.SIGTERM,
    account: Account | None = None,
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` in its own session, so that Ctrl-C in the terminal does not reach it.

    Files it creates are readable by its own user only. On Linux the kernel sends `death_signal`
    when the starting *thread* ends, so start long-lived children from the main thread. Elsewhere
    `launch.processes.guard` watches.
    """
    return subprocess.Popen(  # noqa: S603  (starting programs is what this is for)
        [str(part) for part in command],
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        start_new_session=True,
        umask=PRIVATE_UMASK,
        preexec_fn=_ask_for(death_signal),
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def end_with_parent(death_signal: signal.Signals) -> None:
    """Have the kernel send this process `death_signal` when its parent ends, if supported."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, int(death_signal))


def _ask_for(death_signal: signal.Signals) -> Callable[[], None] | None:
    if LIBC is None:
        return None
    parent = os.getpid()

    def set_death_signal() -> None:
        end_with_parent(death_signal)
        if os.getppid() != parent:
            os._exit(1)  # the parent is already dead: its signal will never arrive

    return set_death_signal
