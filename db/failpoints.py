"""Failpoints: named lines at which a test can make a process die, freeze, fail or pause.

They do nothing unless FAILPOINTS arms them:
`step.before_save=kill,submit.after_commit=sleep:2,claim.after_commit=raise`.
Each fires once across all processes that share the folder FAILPOINTS_DIR; without it, every time.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path


class FailpointReached(Exception):
    """A failpoint was armed to raise here."""


def failpoint(name: str) -> None:
    """Do what FAILPOINTS says for this name, if anything."""
    if (action := _armed().get(name)) and _is_first(name):
        kind, _, argument = action.partition(":")
        _ACTIONS[kind](argument)


def _is_first(name: str) -> bool:
    folder = os.environ.get("FAILPOINTS_DIR")
    if not folder:
        return True
    try:
        os.close(os.open(Path(folder) / name, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _kill(argument: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(seconds: str) -> None:
    """Freeze this process and resume it later, as a writer believed dead that continues."""
    wake = f"time.sleep({float(seconds)}); os.kill({os.getpid()}, signal.SIGCONT)"
    waker = f"import os, signal, time; {wake}"
    subprocess.Popen([sys.executable, "-c", waker], start_new_session=True)  # noqa: S603
    os.kill(os.getpid(), signal.SIGSTOP)


def _raise(argument: str) -> None:
    raise FailpointReached(argument or "a failpoint was reached")


def _sleep(seconds: str) -> None:
    time.sleep(float(seconds))


@cache
def _armed() -> Mapping[str, str]:
    text = os.environ.get("FAILPOINTS", "")
    return dict(part.strip().split("=", 1) for part in text.split(",") if "=" in part)


_ACTIONS: Mapping[str, Callable[[str], None]] = {
    "kill": _kill,
    "stop": _stop,
    "raise": _raise,
    "sleep": _sleep,
}
