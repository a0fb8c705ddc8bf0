"""The processes of a sandbox, as tests start, find and await them."""

import threading
import time
from contextlib import suppress

import psutil

from backend.sandbox.errors import SandboxError
from tests import sandboxed
from tests.sandboxed import AMPLE

PATIENCE = 20.0


def wait_for(true):
    deadline = time.monotonic() + PATIENCE
    while not (result := true()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return result


def told_id(path):
    """The process id that work wrote to `path` once it ran."""
    return int(wait_for(lambda: path.exists() and path.read_text()))


def supervisor_of(sandbox):
    return psutil.Process(sandbox.run_blocking(sandboxed.supervisor_id, bounds=AMPLE))


def start_in_thread(sandbox, work, *arguments, bounds=AMPLE, key=""):
    def run():
        with suppress(SandboxError):
            sandbox.run_blocking(work, *arguments, bounds=bounds, key=key)

    thread = threading.Thread(target=run)
    thread.start()
    return thread
