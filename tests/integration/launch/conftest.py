"""Starts launchers of stand-ins, and stops what a test has left running."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.launch.launchers import Stack, passable_folder

ROOT = Path(__file__).parents[3]
STACK = Path(__file__).with_name("stand_in_stack.py")


def _hear_hangups() -> None:
    """Undo what nohup does, which these tests may run under."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def start() -> Iterator[Callable[..., Stack]]:
    folder = Path(tempfile.mkdtemp(prefix="colloquy-test-"))
    folder.chmod(0o711)
    stacks: list[Stack] = []

    def start_stack(**settings: str) -> Stack:
        output = folder / f"output-{len(stacks)}"
        environment = {**os.environ, "DATA_DIR": str(folder / "data"), **settings}
        data_dir = Path(environment["DATA_DIR"])
        with output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, STACK], env=environment, cwd=ROOT, stdout=file, stderr=file,
                preexec_fn=_hear_hangups,
            )  # fmt: skip
        stacks.append(Stack(process, output, data_dir))
        return stacks[-1]

    yield start_stack
    for stack in stacks:
        if stack.process.poll() is None:
            stack.stop()
    shutil.rmtree(folder)


@pytest.fixture
def home() -> Iterator[Path]:
    with passable_folder() as folder:
        yield folder
