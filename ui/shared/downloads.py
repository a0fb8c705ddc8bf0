"""Downloads: links to the API's own files, and texts of the page that the browser saves itself.

Nothing is handed out through Streamlit's media files. It keeps one for whoever has its address, and
gives two files the same address if their lengths and a few samples agree; `ui.sign_in.gate` refuses
all of them.
"""

from collections.abc import Mapping
from html import escape
from typing import Any

import httpx
import streamlit as st

from ui.client import BROWSERS_API
from ui.shared import assets

_SIGN = '<span class="cq-icon" aria-hidden="true">download</span>'
_component = st.components.v2.component(
    "saving",
    html=f'<button type="button" class="colloquy-text-button">{_SIGN} <span class="said"></span>'
    "</button>",
    js=assets.loader("saving.js"),
    isolate_styles=False,
)


def address(path: str, params: Mapping[str, Any] | None = None) -> str:
    """Return where the browser reads something of the API; parameters without value are left out.

    Lists are repeated parameters.
    """
    given = {name: value for name, value in (params or {}).items() if value is not None}
    query = f"?{httpx.QueryParams(given)}" if given else ""
    return f"{BROWSERS_API}/{path}{query}"


def link(label: str, path: str, params: Mapping[str, Any] | None = None, help: str = "") -> None:
    """Draw the link that saves a file of the API, under the name that it has there."""
    st.html(
        f'<a class="colloquy-text-button" download href="{escape(address(path, params))}"'
        f' title="{escape(help or label)}">{_SIGN} {escape(label)}</a>',
        width="content",
    )


def image(path: str, params: Mapping[str, Any], about: str) -> None:
    """Draw an image of the API, whose type the API knows by its content."""
    place = escape(address(path, params))
    st.html(f'<img class="colloquy-picture" src="{place}" alt="{escape(about)}">')


def text(label: str, content: str, name: str, key: str) -> None:
    """Draw the button that saves a text of this page under a name."""
    data = {"label": label, "name": name, "text": content}
    _component(key=key, data=data, width="content")


def answer(
    label: str, path: str, params: Mapping[str, Any], body: object, name: str, key: str, help: str
) -> None:
    """Draw the button that saves what the API answers to this body; a refusal stands beside it."""
    data = {"label": label, "name": name, "url": address(path, params), "body": body, "help": help}
    _component(key=key, data=data, width="content")
