"""The janitor: deletes what is due, applies retention, recreates lost search entries."""

import time

from backend.artifacts import erasing as artifacts
from backend.conversations.search.index import recreate_entries
from backend.files.erasing import erase_copies, erase_deleted
from backend.operations.retention.service import apply_if_due
from backend.turns.control.delete import delete_due
from backend.turns.process.services import Services
from worker.background import Background

LOOK_SECONDS = 60.0
SOON_SECONDS = 5.0  # how soon a crash of PostgreSQL is noticed, and a deletion is carried out
LOOKS = 10  # at least, between two applications of retention


class Janitor(Background):
    """Of all worker processes' janitors, only one works at a time."""

    name = "janitor"

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        hours = services.settings.retention_hours
        self._seconds = min(LOOK_SECONDS, hours * 3_600 / LOOKS) or LOOK_SECONDS

    def _run(self) -> None:
        cleaned_at = time.monotonic()
        while True:
            self._try(self._recreate_search_entries)
            self._try(self._delete_due)
            if time.monotonic() - cleaned_at >= self._seconds:
                self._try(self._clean)
                cleaned_at = time.monotonic()
            if self._closing.wait(min(SOON_SECONDS, self._seconds)):
                return

    def _recreate_search_entries(self) -> None:
        recreate_entries(self._services.database, self._closing)

    def _delete_due(self) -> None:
        delete_due(self._services)

    def _clean(self) -> None:
        apply_if_due(self._services)
        # Files whose process died between deleting and erasing.
        erase_deleted(self._services.database, self._services.files)
        erase_copies(self._services.database, self._services.files)
        self._services.files.erase_abandoned()
        contents = self._services.artifacts.contents
        artifacts.erase_deleted(self._services.database, contents.store)
        contents.erase_abandoned()
