"""Storage of contents: small ones in PostgreSQL, others in a folder of DATA_DIR or an S3 bucket.

Everything here may block. A content in the store is written before its row and erased after it.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Protocol, Self
from uuid import uuid4

import obstore
from dotenv import dotenv_values
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from backend.errors.artifacts import ArtifactContentGone, ArtifactStoreUnavailable
from backend.errors.base import ConfigurationError
from backend.setting_kinds import check_http_url
from backend.settings import Settings

BUCKET_SETTINGS = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"),
)
_BLOCK = 1_000_000
_ABANDONED_SECONDS = 86_400


@dataclass(frozen=True)
class StoredObject:
    """A content in the store: its key, its size, and when it was written."""

    key: str
    size: int
    at: datetime


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


class Store(Protocol):
    """Storage of large contents by key."""

    def put(self, key: str, place: Path) -> None:
        """Store a file's bytes."""

    def fetch(self, key: str, place: Path) -> Path:
        """Return a local file with the content, copied to `place` if necessary.

        Raise ArtifactContentGone.
        """

    def erase(self, keys: Sequence[str]) -> None:
        """Erase contents; missing ones are ignored."""

    def size(self, key: str) -> int | None:
        """Return the content's size in bytes, None if it is missing."""

    def list_all(self) -> Iterator[StoredObject]:
        """Yield all contents in the store."""


class FolderStore:
    """A folder of DATA_DIR, shared by all processes of a machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, key: str, place: Path) -> None:
        """Copy a file beside its place, then move it there atomically.

        Raise ArtifactStoreUnavailable.
        """
        try:
            self._put(self._folder / key, place)
        except OSError as error:
            raise ArtifactStoreUnavailable(
                f"The folder of artifacts cannot be written to ({error.strerror}); its disk may be"
                " full. Nothing was changed; tell the server's operator."
            ) from error

    def _put(self, target: Path, place: Path) -> None:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        incoming = target.with_name(f".{target.name}")
        try:
            with place.open("rb") as source, incoming.open("xb") as copy:
                os.chmod(incoming, 0o600)
                shutil.copyfileobj(source, copy, _BLOCK)
                copy.flush()
                os.fsync(copy.fileno())
            incoming.rename(target)
        finally:
            incoming.unlink(missing_ok=True)

    def fetch(self, key: str, place: Path) -> Path:
        """Return the content's own path. Raise ArtifactContentGone."""
        found = self._folder / key
        if not found.is_file():
            raise ArtifactContentGone
        return found

    def erase(self, keys: Sequence[str]) -> None:
        """Erase contents; missing ones are ignored."""
        for key in keys:
            (self._folder / key).unlink(missing_ok=True)

    def size(self, key: str) -> int | None:
        """Return the content's size in bytes, None if it is missing."""
        try:
            return (self._folder / key).stat().st_size
        except FileNotFoundError:
            return None

    def list_all(self) -> Iterator[StoredObject]:
        """Yield all contents in the store, including incomplete ones."""
        for place in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):
                found = place.stat()
                at = datetime.fromtimestamp(found.st_mtime, UTC)
                yield StoredObject(f"{place.parent.name}/{place.name}", found.st_size, at)


class BucketStore:
    """A bucket of S3 or a compatible server, below a prefix."""

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        """Open the bucket with the AWS_* variables of the environment."""
        config: Any = {
            name.lower(): environment[name] for name in BUCKET_SETTINGS if name in environment
        }
        endpoint = config.get("aws_endpoint_url", "")
        options: Any = {"allow_http": endpoint.startswith("http://"), "timeout": "30s"}
        retry: Any = {"max_retries": 3}
        self._store = S3Store.from_url(
            url, config=config, client_options=options, retry_config=retry
        )

    def put(self, key: str, place: Path) -> None:
        """Upload a file, a large one in parts. Raise ArtifactStoreUnavailable."""
        with self._asking():
            obstore.put(self._store, key, place)

    def fetch(self, key: str, place: Path) -> Path:
        """Download the content to a file. Raise ArtifactContentGone or ArtifactStoreUnavailable."""
        with self._asking(), place.open("wb") as copy:
            for piece in obstore.get(self._store, key).stream(min_chunk_size=_BLOCK):
                copy.write(piece)
        return place

    def erase(self, keys: Sequence[str]) -> None:
        """Erase contents. Raise ArtifactStoreUnavailable."""
        for key in keys:
            with suppress(ArtifactContentGone), self._asking():
                obstore.delete(self._store, key)

    def size(self, key: str) -> int | None:
        """Return the content's size in bytes, None if it is missing."""
        try:
            with self._asking():
                return int(obstore.head(self._store, key)["size"])
        except ArtifactContentGone:
            return None

    def list_all(self) -> Iterator[StoredObject]:
        """Yield all contents below the prefix."""
        with _answering():
            for some in obstore.list(self._store):
                for one in some:
                    yield StoredObject(one["path"], one["size"], one["last_modified"])

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Raise as `_answering` does; a content is missing only if its bucket is not."""
        try:
            with _answering():
                yield
        except ArtifactContentGone:
            with _answering():
                next(iter(obstore.list(self._store)), None)
            raise


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name. Raise ConfigurationError."""
    if not settings.artifact_store:
        return FolderStore(settings.data_dir / "artifacts")
    found = {**dotenv_values(".env"), **os.environ}
    environment = {name: value for name, value in found.items() if value}
    try:
        check_http_url(environment.get("AWS_ENDPOINT_URL", ""))
    except ValueError as error:
        raise ConfigurationError(f"AWS_ENDPOINT_URL is not usable: {error}.") from None
    try:
        return BucketStore(settings.artifact_store, environment)
    except BaseError as error:
        reason = str(error).splitlines()[0]
        raise ConfigurationError(f"ARTIFACT_STORE cannot be opened: {reason}.") from None


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


@contextmanager
def _answering() -> Iterator[None]:
    """Raise a different error for an unavailable bucket than for a missing content."""
    try:
        yield
    except (FileNotFoundError, NotFoundError):
        raise ArtifactContentGone from None
    except BaseError as error:
        raise ArtifactStoreUnavailable(
            f"The store of artifacts does not answer ({type(error).__name__}); nothing was changed."
            " Try again in a few seconds, or check ARTIFACT_STORE and the AWS_* variables."
        ) from None
