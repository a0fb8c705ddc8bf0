"""Files that pages show or offer: each belongs to the sign-in whose page has made it.

Streamlit serves a file to everybody who has its address, and gives two files the same address if
their lengths and a few samples agree. Here the address is a digest of the whole file and of whose
it is, and `ui.sign_in.gate` asks whose.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os.path import splitext
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime import memory_media_file_storage
from streamlit.runtime.backend_operation_handler import DeferredFileHandler
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryFile, MemoryMediaFileStorage
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

SIGN_IN = "sign_in"  # the name of Streamlit's trusted header in what it knows of a tab

_owners: dict[str, str | None] = {}  # by a file's id; None: nobody signs in here
_downloading: ContextVar[str | None] = ContextVar("whose tab downloads", default=None)


def owner_of(name: str) -> str | None:
    """Return the sign-in whose page has made a file; None if there is no such file."""
    return _owners.get(splitext(name)[0])


@contextmanager
def downloading(owner: str | None) -> Iterator[None]:
    """Let what is made meanwhile, outside of a page's run, belong to this sign-in."""
    before = _downloading.set(owner)
    try:
        yield
    finally:
        _downloading.reset(before)


class OwnedFiles(MemoryMediaFileStorage):
    """Streamlit's files in memory, each under an address that only its owner's pages have."""

    def load_and_get_id(
        self,
        path_or_data: str | bytes,
        mimetype: str,
        kind: MediaFileKind,
        filename: str | None = None,
    ) -> str:
        """Keep a file and return its id."""
        if isinstance(path_or_data, str):
            path_or_data = self._read_file(path_or_data)
        data = path_or_data
        owner = _whose()
        about = repr((owner, mimetype, kind.value, filename)).encode()
        file_id = hashlib.sha256(hashlib.sha256(about).digest() + data).hexdigest()
        _owners[file_id] = owner
        self._files_by_id.setdefault(file_id, MemoryFile(data, mimetype, kind, filename))
        return file_id

    def delete_file(self, file_id: str) -> None:
        """Forget a file."""
        super().delete_file(file_id)
        _owners.pop(file_id, None)


class OwnDownloads(DeferredFileHandler):
    """Makes a file when its download is clicked; it belongs to the tab's sign-in."""

    def __init__(self, owner: str | None, *rest: Any) -> None:
        super().__init__(*rest)
        self._owner = owner

    async def handle(
        self, request: BackendOperationRequest, session_id: str
    ) -> BackendOperationResponse:
        """Make the file, and return its address."""
        with downloading(self._owner):
            return await super().handle(request, session_id)


def install() -> None:
    """Have Streamlit keep files here."""
    # Streamlit has no public hook for it.
    setattr(memory_media_file_storage, "MemoryMediaFileStorage", OwnedFiles)  # noqa: B010


def _whose() -> str | None:
    run = get_script_run_ctx(suppress_warning=True)
    known = run.user_info.get(SIGN_IN) if run else _downloading.get()
    return str(known) if known is not None else None
