"""Links returned by tools: their names and targets."""

from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from ui.shared.text.markdown import plain

OPENED = ("http", "https")
MAX_CHARS = 120


def show(link: dict[str, Any], key: str) -> None:
    """Draw a web address as a link with its host; an address only its server knows as text."""
    uri = str(link.get("uri") or "")
    label = words(link)
    if host(uri):
        st.link_button(label, uri, key=key, type="tertiary", icon=":material/open_in_new:")
    else:
        st.caption(f":material/link: {label}")


def words(link: dict[str, Any]) -> str:
    """Return the link's name, its type and its target."""
    uri = str(link.get("uri") or "")
    parts = (link.get("name"), link.get("mime_type"), host(uri) or uri)
    return " · ".join(plain(str(part), MAX_CHARS) for part in parts if part)


def host(uri: str) -> str:
    """Return the host of an address that browsers can open; empty for all others."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    return parts.netloc.rpartition("@")[2] if parts.scheme in OPENED else ""
