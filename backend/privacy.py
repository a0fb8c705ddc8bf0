"""Hides a process's environment and memory from other processes of the same user."""

import ctypes
import sys

PR_SET_DUMPABLE = 4


def hide_process() -> None:
    """Let only root read this process's environment and memory, if the kernel supports it.

    Programs that it starts are not hidden.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
