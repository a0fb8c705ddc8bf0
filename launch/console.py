"""Terminal output: a progress line during startup, then the log lines of each part."""

import contextlib
import os
import sys
import threading
from typing import TextIO

NAME_WIDTH = 9
RESET, DIM, BOLD, RED = "\033[0m", "\033[2m", "\033[1m", "\033[31m"
ERASE_LINE = "\r\033[2K"
COLOURS = {
    "postgres": "\033[36m",
    "redis": "\033[35m",
    "migrate": "\033[36m",
    "demo": "\033[90m",
    "api": "\033[32m",
    "worker": "\033[33m",
    "ui": "\033[34m",
}


class Console:
    """Writes whole lines from several threads; colours and progress updates only on a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        # Reentrant, because a signal handler may run in the middle of a line.
        self._lock = threading.RLock()
        self._is_terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._coloured = self._is_terminal and not os.environ.get("NO_COLOR")
        self._progress = ""

    def progress(self, text: str) -> None:
        """Show what is being waited for; on a terminal the next progress text replaces it."""
        with self._lock:
            self._progress = text if self._is_terminal else ""
            if self._is_terminal:
                self._write(ERASE_LINE + self._paint(DIM, f"{text} ..."))
            else:
                self._write(f"{text} ...\n")

    def say(self, text: str) -> None:
        """Print a line of the launcher itself."""
        self._line(text)

    def announce(self, text: str) -> None:
        """Print the line the user is waiting for, and end the progress line."""
        with self._lock:
            self._end_progress()
            self._write(f"\n{self._paint(BOLD, text)}\n\n")

    def fail(self, text: str) -> None:
        """Print why Colloquy stops, and end the progress line."""
        with self._lock:
            self._end_progress()
            self._write(f"{self._paint(RED, text)}\n")

    def part(self, name: str, text: str) -> None:
        """Print a log line of one part, prefixed with its name."""
        colour = COLOURS.get(name.partition("-")[0], "")
        self._line(f"{self._paint(colour, f'{name:>{NAME_WIDTH}} |')} {text}")

    def _line(self, text: str) -> None:
        with self._lock:
            if self._progress:
                status = self._paint(DIM, f"{self._progress} ...")
                self._write(f"{ERASE_LINE}{text}\n{status}")
            else:
                self._write(f"{text}\n")

    def _end_progress(self) -> None:
        if self._progress:
            self._write(ERASE_LINE)
        self._progress = ""

    def _paint(self, code: str, text: str) -> str:
        return f"{code}{text}{RESET}" if self._coloured and code else text

    def _write(self, text: str) -> None:
        # A closed terminal must not prevent the orderly stop of the parts.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
