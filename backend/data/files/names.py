"""The permanent names of files as sources: DATA_DIR/source_names.json.

A file's name is chosen when it is first seen. It never changes and no later file gets it, even
when the file is gone: what a person or a model once called `sales` is never other data.
"""

import fcntl
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from backend.data.errors import DataError
from backend.data.files.folder import unique_name


class NamesDamaged(DataError):
    """The register of file names is damaged. Restore it from a backup, or remove it."""

    status = 500


class NameRegister:
    """Names by file path; safe for several processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] = {}
        self._state: tuple[int, int] | None = None

    def names(self) -> set[str]:
        """Return all names that were ever assigned."""
        return set(self._read().values())

    def name_all(self, stems: Mapping[str, str], taken: Collection[str]) -> dict[str, str]:
        """Return the files' names by path; new names are made from their stems.

        New names differ from all in `taken`.
        """
        known = self._read()
        if not stems.keys() <= known.keys():
            with self._alone():
                known = dict(self._read())
                used = {*taken, *known.values()}
                for path, stem in stems.items():
                    if path not in known:
                        known[path] = unique_name(stem, used)
                        used.add(known[path])
                self._write(known)
        return {path: known[path] for path in stems}

    def _read(self) -> dict[str, str]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return {}
        state = (status.st_ino, status.st_mtime_ns)
        if state != self._state:
            try:
                self._known = json.loads(self._path.read_text("utf-8"))
            except ValueError:
                raise NamesDamaged from None
            self._state = state
        return self._known

    def _write(self, known: Mapping[str, str]) -> None:
        new = self._path.with_suffix(".new")
        with open(new, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=0)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with open(self._path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
