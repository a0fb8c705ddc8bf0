"""The bytes of uploads, each under its id; paths contain no file names.

They are in a folder of DATA_DIR, which all processes of a machine share, or in the bucket that all
hosts share. Of a bucket's, the folder holds copies, because what reads a file needs it on disk.
A file is written beside its place and then moved there atomically.
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

from backend.errors.artifacts import ArtifactContentGone, ArtifactStoreUnavailable
from backend.errors.files import FileStoreUnavailable
from backend.settings import Settings
from backend.storage.stores import FILES, BucketStore, Store, open_bucket

_INCOMING = ".incoming-"
_ABANDONED_SECONDS = 86_400
_UNUSED_SECONDS = 7 * 86_400  # after which a copy of what is in the bucket goes
log = logging.getLogger(__name__)


class Incoming:
    """A file that is being received; its methods may block, and raise FileStoreUnavailable."""

    def __init__(self, folder: Path, bucket: Store | None = None) -> None:
        self.size = 0
        self.head = b""
        self._hash = hashlib.sha256()
        self._folder = folder
        self._bucket = bucket
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

    def seal(self, file_id: UUID) -> None:
        """Flush the file to disk, and put it into the bucket; nothing can be added after it.

        That may take longer than a transaction may be idle, so it comes before one.
        """
        with _writing():
            os.fsync(self._file.fileno())
            self._file.close()
            if self._bucket:
                self._bucket.put(file_id.hex, self._place)

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
    except ArtifactStoreUnavailable as error:
        raise FileStoreUnavailable(error.detail) from error


def _for_ourselves(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class FileStore:
    """The only code that knows where the bytes are; `bucket`: where they are if not in the folder.

    Whatever asks the bucket raises FileStoreUnavailable if that does not answer.
    """

    def __init__(self, data_dir: Path, bucket: BucketStore | None = None) -> None:
        self._folder = data_dir / "files"
        self._copies = data_dir / "cache" / "files"
        self._bucket = bucket

    def begin(self) -> Incoming:
        """Begin to receive a file."""
        return Incoming(self._folder, self._bucket)

    def path(self, file_id: UUID) -> Path:
        """Return the path at which `fetch` puts a file's bytes, whether they exist or not."""
        return self._folder / file_id.hex

    def fetch(self, file_id: UUID) -> Path:
        """Return the path of a file's bytes, copied from the bucket if they are not here.

        Raise FileNotFoundError if they are gone.
        """
        place = self.path(file_id)
        if place.is_file():
            if self._bucket:
                os.utime(place)  # used now
            return place
        if self._bucket is None:
            raise FileNotFoundError(place)
        incoming = place.with_name(f"{_INCOMING}{uuid4().hex}")
        try:
            with _writing():
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                incoming.touch(mode=0o600)
                self._bucket.fetch(file_id.hex, incoming)
                incoming.rename(place)
        except ArtifactContentGone:
            raise FileNotFoundError(place) from None
        finally:
            incoming.unlink(missing_ok=True)
        return place

    def size(self, file_id: UUID) -> int | None:
        """Return the size of a stored file in bytes; None if it is gone."""
        if self._bucket:
            with _writing():
                return self._bucket.size(file_id.hex)
        try:
            return self.path(file_id).stat().st_size
        except FileNotFoundError:
            return None

    def copy(self, file_id: UUID, new_id: UUID) -> None:
        """Store the same bytes under another id.

        Raise FileNotFoundError if they are gone, or FileStoreUnavailable.
        """
        if self._bucket:
            try:
                with _writing():
                    self._bucket.copy(file_id.hex, new_id.hex)
            except ArtifactContentGone:
                raise FileNotFoundError(file_id) from None
            return
        place, new = self.path(file_id), self.path(new_id)
        try:
            os.link(place, new)  # the bytes of a file never change
        except FileNotFoundError:
            raise
        except OSError:  # a file system without hard links
            with _writing():
                shutil.copyfile(place, new)

    def erase(self, file_id: UUID) -> None:
        """Remove the bytes of a file, and everything here that is derived from them."""
        if self._bucket:
            with _writing():
                self._bucket.erase([file_id.hex])
        self.erase_copy(file_id)

    def erase_copy(self, file_id: UUID) -> None:
        """Remove what is here of a file, and first what was derived from it."""
        for name in (file_id.hex, f"{file_id.hex}.preview"):
            for copy in self._copies.glob(f"{name}-*"):
                shutil.rmtree(copy, ignore_errors=True)
        self.path(file_id).unlink(missing_ok=True)

    def erase_abandoned(self) -> None:
        """Remove files left incomplete by processes that died, and copies that nobody uses here."""
        for place in self._here():
            age = _age(place)
            if place.name.startswith(_INCOMING):
                if age > _ABANDONED_SECONDS:
                    place.unlink(missing_ok=True)
            elif self._bucket and age > _UNUSED_SECONDS:
                with suppress(ValueError):
                    self.erase_copy(UUID(hex=place.name))

    def copies(self) -> list[UUID]:
        """Return the ids of the files that the bucket has and that are here, too."""
        found = []
        for place in self._here() if self._bucket else ():
            with suppress(ValueError):
                found.append(UUID(hex=place.name))
        return found

    def ids(self, least_age: float = 0) -> Iterator[UUID]:
        """Yield the ids of what has been stored, or copied here, for so many seconds."""
        found = {place.name: _age(place) for place in self._here()}
        if self._bucket:
            with _writing():
                stored = {one.key: one.at.timestamp() for one in self._bucket.list_all()}
            found |= {name: time.time() - at for name, at in stored.items()}
        for name, age in found.items():
            if age >= least_age:
                with suppress(ValueError):
                    yield UUID(hex=name)

    def _here(self) -> Iterator[Path]:
        return self._folder.iterdir() if self._folder.is_dir() else iter(())


def open_files(settings: Settings) -> FileStore:
    """Return where the settings say that uploaded files are. Raise ConfigurationError."""
    return FileStore(settings.data_dir, open_bucket(settings, FILES))


def _age(place: Path) -> float:
    """Return the seconds since a file was written or used; 0 if it is gone."""
    try:
        return time.time() - place.stat().st_mtime
    except FileNotFoundError:
        return 0.0
