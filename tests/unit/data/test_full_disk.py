"""A disk that takes no more is a sentence with a status, and leaves nothing incomplete."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from backend.errors.artifacts import ArtifactStoreUnavailable
from backend.errors.files import FileStoreUnavailable
from backend.files.store import FileStore
from backend.storage.stores import FolderStore

KILOBYTE = b"x" * 1_000


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Files of this process can grow to `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_an_upload_that_the_disk_cannot_take_is_refused(tmp_path: Path) -> None:
    incoming = FileStore(tmp_path).begin()

    with room_for(1_500), pytest.raises(FileStoreUnavailable, match="disk may be full") as raised:
        for _ in range(2):
            incoming.write(KILOBYTE)
    incoming.drop()

    assert raised.value.status == 503
    assert not list((tmp_path / "files").iterdir())


def test_a_file_that_cannot_be_moved_to_its_place_is_refused(tmp_path: Path) -> None:
    file_id, incoming = uuid4(), FileStore(tmp_path).begin()
    (tmp_path / "files" / file_id.hex / "in the way").mkdir(parents=True)

    with pytest.raises(FileStoreUnavailable):
        incoming.keep(file_id)


def test_a_copy_that_the_disk_cannot_take_is_refused(tmp_path: Path) -> None:
    store, old, new = FileStore(tmp_path), uuid4(), uuid4()
    (tmp_path / "files").mkdir()
    store.path(old).write_bytes(KILOBYTE)
    (store.path(new) / "in the way").mkdir(parents=True)

    with pytest.raises(FileStoreUnavailable):
        store.copy(old, new)


def test_a_folder_of_files_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "files").touch()

    with pytest.raises(FileStoreUnavailable):
        FileStore(tmp_path).begin()


def test_a_content_that_the_disk_cannot_take_is_refused(tmp_path: Path) -> None:
    source, store = tmp_path / "source", FolderStore(tmp_path / "artifacts")
    source.write_bytes(KILOBYTE * 2)

    with room_for(1_500), pytest.raises(ArtifactStoreUnavailable, match="disk may be full"):
        store.put("a/b", source)

    assert not list(store.list_all())
