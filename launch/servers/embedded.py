"""What the embedded servers share: a folder with a lock, a port that stays, a log, the end."""

import contextlib
import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, ClassVar

from launch.errors import AlreadyRunning, LaunchError
from launch.folders import make_folder
from launch.ports import any_free_port
from launch.private_files import FolderLock, read_private, write_private
from launch.servers.room import has_room

HOST = "127.0.0.1"
Meanwhile = Callable[[], None]
LOG_LIMIT_BYTES = 10_000_000


class EmbeddedServer(ABC):
    """A server that keeps its files in a folder of `home` (DATA_DIR).

    `start()` may be called again after a crash: the server keeps its port, so URLs stay valid.
    """

    name: ClassVar[str]  # of its folder and its log
    title: ClassVar[str]
    kind: ClassVar[str]  # in the sentence that another process runs it already
    start_seconds: ClassVar[float]
    port_taken: ClassVar[tuple[str, ...]]  # what its output says then
    passing: ClassVar[tuple[str, ...]] = ()  # what its output says of causes that pass
    first_pause: ClassVar[float] = 0.0  # seconds before it is first asked whether it answers
    stop_signals: ClassVar[tuple[signal.Signals, ...]]  # each stronger than the one before
    stop_seconds: ClassVar[float]  # for each of them

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.process: subprocess.Popen[bytes] | None = None
        self.port: int | None = None
        self._folder = self.home / self.name
        self._lock = FolderLock(self._folder / "lock")

    @property
    @abstractmethod
    def url(self) -> str:
        """The clients' URL."""

    @property
    def log_file(self) -> Path:
        """The server's log."""
        return self._folder / f"{self.name}.log"

    def start(self, meanwhile: Meanwhile = lambda: None) -> None:
        """Start the server and return when it answers. Raise AlreadyRunning or LaunchError.

        `meanwhile` is called repeatedly until it answers; what it raises ends the start.
        """
        make_folder(self._folder)
        if not self._lock.acquire():
            raise AlreadyRunning(f"Another Colloquy already runs the {self.kind} of {self.home}.")
        try:
            self._prepare()
            self._start_server(time.monotonic() + self.start_seconds, meanwhile)
            self._complete()
            write_private(self._folder / "port", str(self.port))
            write_private(url_file(self.home, self.name), self.url)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the server; does nothing if it is down."""
        url_file(self.home, self.name).unlink(missing_ok=True)
        process = self.process
        for stop_signal in self.stop_signals:
            if process is None or process.poll() is not None:
                break
            process.send_signal(stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.stop_seconds)
        self._lock.release()

    def obstacle(self) -> str | None:
        """Return what keeps the server from running until a person removes it, None if nothing."""
        full = [folder for folder in self._folders if not has_room(folder)]
        if not full:
            return None
        return f"The disk of {full[0]} is full. Free some space there, and {self.title} starts."

    @property
    def _folders(self) -> Sequence[Path]:
        """Where the server's files are."""
        return (self._folder,)

    @abstractmethod
    def _prepare(self) -> None:
        """Do what must be done before the server starts."""

    @abstractmethod
    def _launch(self, log: BinaryIO) -> subprocess.Popen[bytes]:
        """Start the server's process on `port`."""

    @abstractmethod
    def _answers(self) -> bool:
        """Return whether the server answers its clients."""

    @property
    def _is_recovering(self) -> bool:
        """Return whether the last answer was that it recovers, which begins again if stopped."""
        return False

    def _complete(self) -> None:  # noqa: B027 - most servers need nothing
        """Do what needs a server that answers."""

    def _start_server(self, deadline: float, meanwhile: Meanwhile) -> None:
        """Retry until it stays up: another may take its port, and other causes pass."""
        last_port = read_private(self._folder / "port") or "0"
        self.port = self.port or any_free_port(int(last_port) if last_port.isdigit() else None)
        while (output := self._run_until_ready(deadline, meanwhile)) is not None:
            meanwhile()
            is_taken = any(phrase in output for phrase in self.port_taken)
            passes = any(phrase in output for phrase in self.passing)
            if time.monotonic() > deadline or not (is_taken or passes):
                raise LaunchError(f"The embedded {self.title} did not start. Its output:\n{output}")
            if is_taken:
                self.port = any_free_port()
            time.sleep(0.1)

    def _run_until_ready(self, deadline: float, meanwhile: Meanwhile) -> str | None:
        """Run the server; return None once it answers, or its output if it ended."""
        if self.log_file.exists() and self.log_file.stat().st_size > LOG_LIMIT_BYTES:
            self.log_file.replace(self.log_file.with_suffix(".log.1"))
        with open(self.log_file, "ab", opener=_open_private) as log:
            start = log.tell()
            self.process = self._launch(log)
        time.sleep(self.first_pause)
        while self.process.poll() is None:
            if self._answers():
                return None
            if time.monotonic() > deadline and not self._is_recovering:
                raise LaunchError(
                    f"The embedded {self.title} does not answer yet; see {self.log_file}."
                )
            meanwhile()
            time.sleep(0.01)
        return self.log_file.read_bytes()[start:].decode(errors="replace").strip()


def url_file(home: Path, name: str) -> Path:
    """Return the file that holds the URL of a running server."""
    return home / name / "url"


def recorded_url(home: Path, name: str) -> str | None:
    """Return the URL of the server that runs in this folder; a copy of the folder has none."""
    is_running = not FolderLock(home / name / "lock").is_free()
    return read_private(url_file(home, name)) if is_running else None


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
