"""The bytes of uploaded files: in DATA_DIR/files, each under its id; paths contain no file names.

All processes of a machine share the folder. A file is written beside its place and then moved
there atomically.
"""

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID, uuid4

from backend.errors.files import FileStoreUnavailable

_INCOMING = ".incoming-"
_ABANDONED_SECONDS = 86_400
log = logging.getLogger(__name__)


class Incoming:
    """A file that is being received; its methods may block, and raise FileStoreUnavailable."""

    def __init__(self, folder: Path) -> None:
        self.size = 0
        self.head = b""
        self._hash = hashlib.sha256()
        self._folder = folder
        self._place = folder / f"{_INCOMING}{uuid4().hex}"
        with _writing():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = open(self._place, "xb", buffering=0, opener=_for_ourselves)  # noqa: SIM115 - closed by seal or drop

    @property
    def sha256(self) -> str:
        """The digest of the bytes received so far."""
        return self._hash.hexdigest()

    def write(self, piece: bytes, head_bytes: int = 4096) -> None:
        """Append a piece."""
        rest = memoryview(piece)
        with _writing():
            while rest:
                rest = rest[self._file.write(rest) :]
        self._hash.update(piece)
        self.size += len(piece)
        if len(self.head) < head_bytes:
            self.head += piece[: head_bytes - len(self.head)]

    def seal(self) -> None:
        """Flush the file to disk, which may take a while; nothing can be added after it."""
        with _writing():
            os.fsync(self._file.fileno())
        self._file.close()

    def keep(self, file_id: UUID) -> None:
        """Move the sealed file to its place, where it survives a crash."""
        with _writing():
            self._place.rename(self._folder / file_id.hex)
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def drop(self) -> None:
        """Remove what was received, unless it was kept."""
        self._file.close()
        self._place.unlink(missing_ok=True)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        log.error("Files cannot be stored: %s", error)
        raise FileStoreUnavailable from error


def _for_ourselves(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class FileStore:
    """The only code that knows where the bytes are."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "files"
        self._copies = data_dir / "cache" / "files"

    def begin(self) -> Incoming:
        """Begin to receive a file."""
        return Incoming(self._folder)

    def path(self, file_id: UUID) -> Path:
        """Return the path of a file's bytes, whether they exist or not."""
        return self._folder / file_id.hex

    def copy(self, file_id: UUID, new_id: UUID) -> None:
        """Store the same bytes under another id.

        Raise FileNotFoundError if they are gone, or FileStoreUnavailable.
        """
        try:
            os.link(self.path(file_id), self.path(new_id))  # the bytes of a file never change
        except FileNotFoundError:
            raise
        except OSError:  # a file system without hard links
            with _writing():
                shutil.copyfile(self.path(file_id), self.path(new_id))

    def erase(self, file_id: UUID) -> None:
        """Remove the bytes of a file, and everything derived from them."""
        self.path(file_id).unlink(missing_ok=True)
        for name in (file_id.hex, f"{file_id.hex}.preview"):
            for copy in self._copies.glob(f"{name}-*"):
                shutil.rmtree(copy, ignore_errors=True)

    def erase_abandoned(self) -> None:
        """Remove files left incomplete by processes that died."""
        for place in self._folder.glob(f"{_INCOMING}*"):
            with suppress(FileNotFoundError):
                if time.time() - place.stat().st_mtime > _ABANDONED_SECONDS:
                    place.unlink()

    def ids(self) -> Iterator[UUID]:
        """Yield the ids of all files whose bytes are here."""
        if not self._folder.is_dir():
            return
        for place in self._folder.iterdir():
            with suppress(ValueError):
                yield UUID(hex=place.name)
