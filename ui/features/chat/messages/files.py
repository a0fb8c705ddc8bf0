"""Images, sounds and files returned by tools: served from our own store, never from their URLs."""

import re
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.sessions import DisplayMessage
from ui import navigation, state
from ui.client import ClientError
from ui.shared.formats import reader
from ui.shared.formats.images import is_image
from ui.shared.text.markdown import plain

SOUNDS = frozenset({"audio/mpeg", "audio/wav", "audio/x-wav", "audio/ogg", "audio/flac"})
KEPT_SECONDS, MAX_KEPT = 60, 20
MAX_NAME_CHARS = 80
_NOT_IN_NAMES = re.compile(r"[^\w .()+,-]+")


def show(row: DisplayMessage, session_id: UUID, key: str) -> None:
    """Draw an image as an image, a sound as a player, anything else as a download."""
    name, kind = label(row), str(row.content.get("mime_type"))
    result_id = row.metadata.get("result_id")
    if not result_id:
        st.caption(f":material/attach_file: {name}")
        return
    if kind.startswith("image/") or kind in SOUNDS:
        data = fetch(session_id, str(result_id))
        if kind in SOUNDS and data:
            st.audio(data, format=kind)
            st.caption(f":material/volume_up: {name}")
            return
        if is_image(data):
            st.image(data)
            st.caption(f":material/image: {name}")
            return
    _offer_download(row, session_id, key)


def label(row: DisplayMessage) -> str:
    """Return its name or kind, its size, and the tool that returned it."""
    content = row.content
    name = content.get("title") or content.get("name") or content.get("mime_type")
    parts = [plain(str(name or row.content_type), 120)]
    if isinstance(size := content.get("bytes"), int):
        parts.append(
            f"{reader.number(size / 1_000_000, 1)} MB"
            if size >= 1_000_000
            else f"{reader.number(size)} bytes"
        )
    if tool := content.get("tool"):
        parts.append(f"from {plain(str(tool), 80)}")
    return " · ".join(parts)


def fetch(session_id: UUID, result_id: str) -> bytes:
    """Return the bytes of a stored file; empty if it is unavailable."""
    return _fetch(state.server().user, navigation.result_path(session_id, result_id))


# Cached per person: what one may see is not served to another.
@st.cache_data(ttl=KEPT_SECONDS, max_entries=MAX_KEPT, show_spinner=False)
def _fetch(user: str, path: str) -> bytes:
    return _load(path)


def _load(path: str) -> bytes:
    try:
        return state.client().send("GET", path, params={"format": "file"}).content
    except ClientError:
        return b""


def _offer_download(row: DisplayMessage, session_id: UUID, key: str) -> None:
    path = navigation.result_path(session_id, str(row.metadata["result_id"]))
    st.download_button(
        label(row),
        state.later(_load, path),
        file_name=download_name(row.content.get("name")),
        mime="application/octet-stream",
        key=f"file-{key}",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )


def download_name(name: object) -> str:
    """Return a safe download name from a tool server's: never a path or a disguised extension."""
    return _NOT_IN_NAMES.sub("-", str(name or ""))[-MAX_NAME_CHARS:].strip(" .-") or "file"
