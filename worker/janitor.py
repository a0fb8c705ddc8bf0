"""The janitor: applies retention, erases deleted files, recreates lost search entries."""

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from backend.artifacts import erasing as artifacts
from backend.conversations.search.index import recreate_entries
from backend.files.erasing import erase_deleted
from backend.operations.retention.service import apply_if_due
from backend.turns.process.services import Services

LOOK_SECONDS = 60.0
SEARCH_SECONDS = 5.0  # how soon a crash of PostgreSQL is noticed
LOOKS = 10  # at least, between two applications of retention
log = logging.getLogger(__name__)


class Janitor:
    """One thread per worker process; only one of them works at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        hours = services.settings.retention_hours
        self._seconds = min(LOOK_SECONDS, hours * 3_600 / LOOKS) or LOOK_SECONDS
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="janitor", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop the janitor after its current batch."""
        self._closing.set()
        self._thread.join(timeout=5)

    def _work(self) -> None:
        cleaned_at = time.monotonic()
        while True:
            self._try(self._recreate_search_entries)
            if time.monotonic() - cleaned_at >= self._seconds:
                self._try(self._clean)
                cleaned_at = time.monotonic()
            if self._closing.wait(min(SEARCH_SECONDS, self._seconds)):
                return

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except SQLAlchemyError as error:
            log.warning("The janitor waits, the database does not answer: %s", error)
        except Exception:  # the edge: one failure must not end the thread
            log.exception("The janitor failed")

    def _recreate_search_entries(self) -> None:
        recreate_entries(self._services.database, self._closing)

    def _clean(self) -> None:
        apply_if_due(self._services)
        # Files whose process died between deleting and erasing.
        erase_deleted(self._services.database, self._services.files)
        self._services.files.erase_abandoned()
        contents = self._services.artifacts.contents
        artifacts.erase_deleted(self._services.database, contents.store)
        contents.erase_abandoned()
