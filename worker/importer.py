"""Runs imports, one at a time in each worker process; lost workers' imports are taken over."""

import time

from backend.imports.job import Importer as Importing
from backend.imports.place import ImportPlace
from backend.imports.service import erase_old
from backend.turns.run.runner import Runtime
from worker.background import Background

LOOK_SECONDS = 1.0
CLEAN_SECONDS = 600.0


class Importer(Background):
    """Several may run: each takes another import."""

    name = "importer"

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self._services = runtime.services
        self._importing = Importing(runtime.services, lambda: list(runtime.sources.names()))

    def _run(self) -> None:
        cleaned_at = time.monotonic()
        while not self._closing.wait(LOOK_SECONDS):
            self._try(self._work)
            if time.monotonic() - cleaned_at >= CLEAN_SECONDS:
                self._try(self._clean)
                cleaned_at = time.monotonic()

    def _work(self) -> None:
        while self._importing.work(self._closing) and not self._closing.is_set():
            pass

    def _clean(self) -> None:
        place = ImportPlace(self._services.settings)
        erase_old(self._services.database, place)
        place.store.erase_abandoned()
