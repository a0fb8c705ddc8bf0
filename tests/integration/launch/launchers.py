"""A launcher that runs as a process of its own, as tests see it."""

import json
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg2

from tests.servers.real import command_of


@dataclass
class Stack:
    """A launcher that was started, and where its output goes."""

    process: subprocess.Popen
    output: Path
    data_dir: Path

    def said(self) -> str:
        return self.output.read_text()

    def wait_for(self, text: str, seconds: float = 120) -> None:
        wait_until(lambda: text in self.said() or self.process.poll() is not None, seconds)
        assert text in self.said(), self.said()

    def parts(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def part(self, mark: str) -> psutil.Process:
        found = self.find(mark)
        assert found, f"no {mark} among {self.parts()}"
        return found

    def find(self, mark: str) -> psutil.Process | None:
        return next((one for one in self.parts() if mark in " ".join(command_of(one))), None)

    def record(self) -> dict[str, str]:
        return json.loads((self.data_dir / "stack.json").read_text())

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(90)


def wait_until(claim: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def passable_folder() -> Iterator[Path]:
    """Make a DATA_DIR that other users may pass through, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="colloquy-test-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def ask(url: str, statement: str) -> list[tuple]:
    with closing(psycopg2.connect(url.replace("+psycopg2", ""))) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []
