"""Keeps what a process knows from other processes of the same user."""

import ctypes
import sys

PR_SET_DUMPABLE = 4


def hide_process() -> None:
    """Let nobody but root read this process's environment and memory, where the kernel can.

    Programs that it starts are not hidden with it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
