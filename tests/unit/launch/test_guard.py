"""The watcher that stands in where the kernel does not tell children of their parent's death."""

import signal
import subprocess
import sys
from pathlib import Path

STARTER = """
import os, signal, subprocess, sys
from launch.processes.guard import Guard
guard = Guard(needed=True)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                         start_new_session=True)
guard.watch(child.pid, signal.SIGTERM)
print(child.pid, flush=True)
if sys.argv[1] == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
guard.dismiss()
print(child.poll(), flush=True)
child.kill()
"""


def run(how: str) -> list[str]:
    starter = subprocess.run(
        [sys.executable, "-c", STARTER, how],
        stdout=subprocess.PIPE, text=True, timeout=30, cwd=Path(__file__).parents[3], check=False,
    )  # fmt: skip
    assert starter.returncode in (0, -signal.SIGKILL)
    return starter.stdout.split()


def test_a_child_ends_with_a_launcher_that_was_killed():
    # The child and the guard hold the pipe: that `run` returns shows that both have ended.
    assert len(run("dies")) == 1


def test_a_dismissed_guard_ends_nobody():
    assert run("lives")[1] == "None"
