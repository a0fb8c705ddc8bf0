"""Stores of large contents by key: a folder of DATA_DIR, an S3 bucket. Everything may block."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import obstore
from dotenv import dotenv_values
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from backend.errors.artifacts import ArtifactContentGone, ArtifactStoreUnavailable
from backend.errors.base import ConfigurationError
from backend.setting_files import UnusableFile, with_files
from backend.setting_kinds import check_http_url
from backend.settings import Settings

BUCKET_SETTINGS = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"),
)
MARK = "installation"  # says whose store it is
FILES, IMPORTS, _ = PARTS = ("files", "imports", MARK)  # of a bucket, beside artifacts' contents
_BLOCK = 1_000_000


@dataclass(frozen=True)
class StoredObject:
    """A content in the store: its key, its size, and when it was written."""

    key: str
    size: int
    at: datetime


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

    def copy(self, key: str, new_key: str) -> None:
        """Have the server copy a content. Raise ArtifactContentGone or ArtifactStoreUnavailable."""
        with self._asking():
            obstore.copy(self._store, key, new_key)

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
        """Yield all contents below the prefix, without those of its parts."""
        with _answering():
            for some in obstore.list(self._store):
                for one in some:
                    if one["path"].partition("/")[0] not in PARTS:
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
    """Return where large artifacts are. Raise ConfigurationError."""
    return open_bucket(settings) or FolderStore(settings.data_dir / "artifacts")


def open_bucket(settings: Settings, part: str = "") -> BucketStore | None:
    """Return the bucket that the settings name, or a part of it; None: folders have everything.

    Raise ConfigurationError.
    """
    if not settings.artifact_store:
        return None
    try:
        environment = with_files({**dotenv_values(".env"), **os.environ}, BUCKET_SETTINGS)
        check_http_url(environment.get("AWS_ENDPOINT_URL", ""))
    except UnusableFile as error:
        raise ConfigurationError(str(error)) from None
    except ValueError as error:
        raise ConfigurationError(f"AWS_ENDPOINT_URL is not usable: {error}.") from None
    try:
        return BucketStore(f"{settings.artifact_store.rstrip('/')}/{part}".rstrip("/"), environment)
    except BaseError as error:
        reason = str(error).splitlines()[0]
        raise ConfigurationError(f"ARTIFACT_STORE cannot be opened: {reason}.") from None


@contextmanager
def _answering() -> Iterator[None]:
    """Raise a different error for an unavailable bucket than for a missing content."""
    try:
        yield
    except (FileNotFoundError, NotFoundError):
        raise ArtifactContentGone from None
    except BaseError as error:
        raise ArtifactStoreUnavailable(
            f"The store does not answer ({type(error).__name__}); nothing was changed."
            " Try again in a few seconds, or check ARTIFACT_STORE and the AWS_* variables."
        ) from None
