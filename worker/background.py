"""What a worker process does besides its turns, each task in a thread of its own."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from sqlalchemy.exc import SQLAlchemyError

from backend.logs.outages import DATABASE, while_away

CLOSE_SECONDS = 5.0
log = logging.getLogger(__name__)


class Background(ABC):
    """One thread per worker process, from `start` to `close`."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def ask_to_end(self) -> None:
        """Let the thread end after what it is doing."""
        self._closing.set()

    def wait_for_end(self, seconds: float) -> None:
        """Wait until the thread has ended, for so long at most."""
        self._thread.join(timeout=seconds)

    @abstractmethod
    def _run(self) -> None:
        """Work until `_closing` is set."""

    def _try(self, work: Callable[[], object]) -> None:
        """Do a piece of work; whatever it raises is logged, and the thread goes on."""
        try:
            work()
        except SQLAlchemyError as error:
            first_line = str(error).splitlines()[0]
            log.warning("The %s waits: %s", self.name, first_line, extra=while_away(DATABASE))
        except Exception:  # the edge: one failure must not end the thread
            log.exception("The %s failed", self.name)


def close_all(parts: Sequence[Background]) -> None:
    """Let all of them end, and wait for them together, for `CLOSE_SECONDS` at most."""
    for part in parts:
        part.ask_to_end()
    deadline = time.monotonic() + CLOSE_SECONDS
    for part in parts:
        part.wait_for_end(max(deadline - time.monotonic(), 0.0))
