"""Links that tools gave: what they are called and where they lead."""

from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from ui.shared.text.markdown import plain

OPENED = ("http", "https")
MAX_CHARS = 120


def show(link: dict[str, Any], key: str) -> None:
    """An address of the web as a link that names its host; what only its server knows as words."""
    uri = str(link.get("uri") or "")
    label = words(link)
    if host(uri):
        st.link_button(label, uri, key=key, type="tertiary", icon=":material/open_in_new:")
    else:
        st.caption(f":material/link: {label}")


def words(link: dict[str, Any]) -> str:
    """Return what it is called, what kind of thing it is, and where it leads."""
    uri = str(link.get("uri") or "")
    parts = (link.get("name"), link.get("mime_type"), host(uri) or uri)
    return " · ".join(plain(str(part), MAX_CHARS) for part in parts if part)


def host(uri: str) -> str:
    """Return the host of an address that a browser opens; nothing for all others."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return parts.netloc.rpartition("@")[2] if parts.scheme in OPENED else ""
