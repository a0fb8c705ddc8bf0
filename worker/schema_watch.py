"""Watches whether the database answers, and whether a newer version has migrated it."""

import time
from collections.abc import Callable

from db.session import Database
from worker.background import Background

LOOK_SECONDS = 2.0


class SchemaWatch(Background):
    """Calls `on_newer` once with the number of a schema that this version does not know."""

    name = "schema watch"

    def __init__(self, database: Database, on_newer: Callable[[str], None]) -> None:
        super().__init__()
        self._database = database
        self._on_newer = on_newer
        self._answered_at = time.monotonic()
        self._is_told = False

    @property
    def silence(self) -> float:
        """Return for how many seconds the database has not answered. Call it from any thread."""
        return max(time.monotonic() - self._answered_at - LOOK_SECONDS, 0.0)

    def _run(self) -> None:
        while not self._closing.wait(LOOK_SECONDS):
            self._try(self._look)

    def _look(self) -> None:
        newer = self._database.find_newer_schema()
        self._answered_at = time.monotonic()
        if newer and not self._is_told:
            self._is_told = True
            self._on_newer(newer)
