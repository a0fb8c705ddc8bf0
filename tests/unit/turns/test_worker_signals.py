"""What a signal interrupts may hold any lock: who is told of it may wait for that lock."""

import subprocess
import sys

from tests.processes import ROOT

PROGRAM = """
import os, signal, threading, time
from worker.signals import StopSignals

lock, told = threading.Lock(), threading.Semaphore(0)

def on_stop():
    with lock:
        told.release()

StopSignals(on_stop).start()
with lock:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGCHLD)
print("held", told.acquire(blocking=False))
print("told", told.acquire(timeout=20), told.acquire(timeout=20))
os.kill(os.getpid(), signal.SIGINT)
print("told", told.acquire(timeout=20), told.acquire(timeout=0.2))
"""


def test_each_signal_is_told_while_the_main_thread_holds_what_that_needs() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=90
    )

    assert (ran.stderr, ran.returncode) == ("", 0)
    assert ran.stdout.splitlines() == ["held False", "told True True", "told True False"]
