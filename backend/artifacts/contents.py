"""Contents of artifacts: small ones in PostgreSQL, others in the store (`backend.storage`).

Everything here may block. A content in the store is written before its row and erased after it.
"""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Self
from uuid import uuid4

from backend.errors.artifacts import ArtifactContentGone
from backend.settings import Settings
from backend.storage.stores import Store, open_store

_ABANDONED_SECONDS = 86_400


@dataclass(frozen=True)
class Kept:
    """Where a content is stored: in its row, or in the store under a key."""

    hash: str
    size: int
    content: bytes | None = None
    key: str | None = None

    @classmethod
    def inline(cls, content: bytes) -> Self:
        """Return a content that is stored in its row."""
        return cls(hashlib.sha256(content).hexdigest(), len(content), content=content)


class Contents:
    """The contents of an installation's artifacts, and the folder for work on them."""

    def __init__(self, store: Store, work: Path, inline_bytes: int) -> None:
        self.store = store
        self._work = work
        self._inline_bytes = inline_bytes

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Provide a temporary folder for the block."""
        self._work.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self._work, ignore_cleanup_errors=True) as place:
            yield Path(place)

    def new_folder(self) -> Path:
        """Return a folder that the caller removes."""
        self._work.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Path(mkdtemp(dir=self._work))

    def keep(self, place: Path) -> Kept:
        """Store a file's bytes; large ones are in the store when this returns."""
        found = digest(place)
        size = place.stat().st_size
        if size <= self._inline_bytes:
            return Kept(found, size, content=place.read_bytes())
        key = f"{uuid4().hex[:2]}/{uuid4().hex}"
        self.store.put(key, place)
        return Kept(found, size, key=key)

    def drop(self, kept: Kept) -> None:
        """Erase a stored content that is not needed after all."""
        if kept.key:
            self.store.erase([kept.key])

    def local(self, content: bytes | None, key: str | None, place: Path) -> Path:
        """Return a file with a version's content. Raise ArtifactContentGone."""
        if key:
            return self.store.fetch(key, place)
        if content is None:
            raise ArtifactContentGone
        place.write_bytes(content)
        return place

    def erase_abandoned(self) -> None:
        """Remove what dead processes have left in the folder."""
        now = datetime.now(UTC).timestamp()
        for place in self._work.glob("*"):
            with suppress(FileNotFoundError):
                if now - place.stat().st_mtime > _ABANDONED_SECONDS:
                    shutil.rmtree(place, ignore_errors=True)


def open_contents(settings: Settings) -> Contents:
    """Return the storage that the settings describe. Raise ConfigurationError."""
    work = settings.data_dir / "cache" / "artifacts"
    return Contents(open_store(settings), work, settings.artifact_inline_bytes)


def digest(place: Path) -> str:
    """Return the SHA-256 of a file."""
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
