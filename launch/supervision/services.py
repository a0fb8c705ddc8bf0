"""The things that the supervisor starts and stops: embedded servers and parts of Colloquy."""

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from launch.console import Console
from launch.processes.children import start_child
from launch.servers.embedded import EmbeddedServer

LAST_LINES = 20
LONGEST_LINE_BYTES = 16_384


class Service(Protocol):
    """What the supervisor needs of anything it runs."""

    name: str
    stop_signal: signal.Signals

    def start(self, meanwhile: Callable[[], None]) -> None:
        """Start it, possibly again.

        An embedded server returns when it answers; until then it calls `meanwhile` repeatedly.
        """

    def is_ready(self) -> bool:
        """Return whether it is ready for work."""

    def pid(self) -> int | None:
        """Return its process id, once started."""

    def exit_status(self) -> int | None:
        """Return the exit status; None while it runs."""

    def obstacle(self) -> str | None:
        """Return what keeps it from running until a person removes it, None if nothing known."""

    def last_lines(self) -> list[str]:
        """Return its last output lines."""

    def stop(self) -> None:
        """Ask it to end, wait, then kill it."""

    def kill(self) -> None:
        """Kill it immediately, without waiting."""


def always() -> bool:
    """Return True: the part is ready as soon as it runs."""
    return True


@dataclass(frozen=True)
class PartSpec:
    """One process of Colloquy: how it is started and when it counts as ready."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    cwd: Path
    is_ready: Callable[[], bool] = always
    patience_seconds: float = 10.0


class Part:
    """A running (or ended) process of Colloquy, whose output goes to the console line by line."""

    stop_signal = signal.SIGTERM

    def __init__(self, spec: PartSpec, console: Console) -> None:
        self.name = spec.name
        self._spec = spec
        self._console = console
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._last_lines: deque[str] = deque(maxlen=LAST_LINES)

    def start(self, meanwhile: Callable[[], None]) -> None:
        """Start the process; call this from the main thread, because the process ends with it."""
        self._last_lines.clear()
        spec = self._spec
        self._process = start_child(
            spec.command, env=spec.env, output=subprocess.PIPE, cwd=spec.cwd
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def is_ready(self) -> bool:
        """Return whether it is ready for work."""
        return self._spec.is_ready()

    def pid(self) -> int | None:
        """Return its process id, once started."""
        return self._process.pid if self._process else None

    def exit_status(self) -> int | None:
        """Return the exit status; None while it runs."""
        return self._process.poll() if self._process else None

    def obstacle(self) -> str | None:
        """Return None: nothing is known of what it needs."""
        return None

    def last_lines(self) -> list[str]:
        """Return its last output lines, complete once it has ended."""
        if self._reader and self.exit_status() is not None:
            self._reader.join(timeout=1)
        return list(self._last_lines)

    def stop(self) -> None:
        """Ask it to end, wait, then kill it and its own children."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(self.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self._spec.patience_seconds)
        self.kill()
        process.wait()

    def kill(self) -> None:
        """Kill it and its own children immediately, without waiting."""
        if self._process:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        stream = process.stdout
        while stream and (line := stream.readline(LONGEST_LINE_BYTES)):
            text = line.decode(errors="replace").rstrip()
            self._last_lines.append(text)
            self._console.part(self.name, text)


class Server:
    """An embedded server as a service."""

    def __init__(self, server: EmbeddedServer) -> None:
        self.name = server.name
        self.stop_signal = server.stop_signals[0]
        self._server = server

    def start(self, meanwhile: Callable[[], None]) -> None:
        """Start it and return when it answers."""
        self._server.start(meanwhile)

    def is_ready(self) -> bool:
        """Return whether it is running; `start` has waited for its first answer."""
        return self.exit_status() is None

    def pid(self) -> int | None:
        """Return its process id, once started."""
        return self._server.process.pid if self._server.process else None

    def exit_status(self) -> int | None:
        """Return the exit status; None while it runs."""
        return self._server.process.poll() if self._server.process else None

    def obstacle(self) -> str | None:
        """Return what keeps it from running until a person removes it, None if nothing known."""
        return self._server.obstacle()

    def last_lines(self) -> list[str]:
        """Return the last lines of its log file."""
        try:
            text = self._server.log_file.read_text(errors="replace")
        except OSError:
            return []
        return text.splitlines()[-LAST_LINES:]

    def stop(self) -> None:
        """Stop it cleanly."""
        self._server.stop()

    def kill(self) -> None:
        """Kill it immediately; its write-ahead log restores what was committed."""
        process = self._server.process
        if process and process.poll() is None:
            # SIGQUIT to PostgreSQL's main process ends its children too; SIGKILL would leave them.
            process.send_signal(signal.SIGQUIT if self.name == "postgres" else signal.SIGKILL)
