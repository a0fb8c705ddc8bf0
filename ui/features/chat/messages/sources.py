"""Shows what an answer is based on: pages it cites, and tools that the model's provider ran."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import streamlit as st

from ui.shared.text.markdown import plain

TITLE_CHARS = 120
SCHEMES = ("http", "https")
_HOST = re.compile(r"[\w.-]+(?::\d+)?", re.ASCII)
# Markdown's own characters are percent-encoded, so that an address stays an address.
_SAFE = "/?#%&=+,;@.-_"


def show(metadata: Mapping[str, Any], key: str) -> None:
    """Draw the list after an answer, folded; nothing if it is empty."""
    if lines := to_lines(metadata):
        with st.expander(_label(metadata), type="compact", icon=":material/link:", key=key):
            st.markdown("  \n".join(lines))


def show_within(metadata: Mapping[str, Any]) -> None:
    """Draw the list inside something that is itself folded."""
    if lines := to_lines(metadata):
        st.caption(_label(metadata))
        st.markdown("  \n".join(lines))


def to_lines(metadata: Mapping[str, Any]) -> list[str]:
    """Return the sources and tools as lines of Markdown in which only addresses are active."""
    sources = _objects(metadata.get("sources"))
    lines = [f"{number}\\. {_source(source)}" for number, source in enumerate(sources, 1)]
    if more := metadata.get("more_sources"):
        lines.append(f"and {plain(str(more))} more")
    return lines + [_tool(tool) for tool in _objects(metadata.get("executed_tools"))]


def safe_address(url: str) -> str | None:
    """Return an address that a page may link to; None unless it is a plain web address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in SCHEMES or not _HOST.fullmatch(parts.netloc):
        return None
    rest = url.partition("://")[2][len(parts.netloc) :]
    return f"{parts.scheme}://{parts.netloc}{quote(rest, safe=_SAFE)}"


def _source(source: Mapping[str, Any]) -> str:
    url = str(source.get("url") or "")
    title = plain(str(source.get("title") or url or "(unnamed)"), TITLE_CHARS)
    address = safe_address(url)
    if address is None:
        return title if not url or not source.get("title") else f"{title} · {plain(url)}"
    host = "" if not source.get("title") else f" · {plain(urlsplit(address).netloc)}"
    return f"[{title}]({address}){host}"


def _tool(tool: Mapping[str, Any]) -> str:
    name = plain(str(tool.get("name") or "tool"), TITLE_CHARS)
    arguments = plain(str(tool.get("arguments") or ""))
    return f"The provider ran **{name}** {arguments}".rstrip()


def _label(metadata: Mapping[str, Any]) -> str:
    sources, tools = (_objects(metadata.get(name)) for name in ("sources", "executed_tools"))
    counts = ((len(sources), "source"), (len(tools), "tool that the provider ran"))
    words = [f"{n} {what}" if n == 1 else f"{n} {_plural(what)}" for n, what in counts if n]
    return " · ".join(words)


def _plural(what: str) -> str:
    first, _, rest = what.partition(" ")
    return f"{first}s {rest}".rstrip()


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
