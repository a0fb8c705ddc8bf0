"""Shows a call's arguments exactly as they run, including invisible characters."""

import json
import re
from typing import Any

import streamlit as st

from backend.types import JSON
from ui.features.approvals.view import NOT_GIVEN, ApprovalView
from ui.shared.text import long_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import plain

# Characters that are invisible or change the reading direction.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e007f]"
)
NAME_WIDTH = 120
NAME_AND_BOTH = [1, 1.5, 1.5]


def show_arguments(arguments: JSON, key: str) -> None:
    """Draw each argument with its value."""
    if not arguments:
        st.caption("No arguments")
    with st.container(gap="xxsmall"):
        for number, (name, value) in enumerate(arguments.items()):
            with st.container(horizontal=True, wrap=False):
                st.container(width=NAME_WIDTH).caption(plain(name))
                with st.container():
                    _value(value, f"{key}-{number}")


def show_changes(call: ApprovalView, key: str) -> None:
    """Draw what an edit has changed: each argument before and after."""
    st.caption("Edited: before → after" if call.changes else "Edited: nothing was changed")
    for number, (name, before, after) in enumerate(call.changes):
        cells = st.columns(NAME_AND_BOTH, gap="small")
        cells[0].caption(plain(name))
        with cells[1]:
            _value(before, f"{key}-before-{number}")
        with cells[2]:
            _value(after, f"{key}-after-{number}", arrow="→ ")


def _value(value: Any, key: str, arrow: str = "") -> None:
    if value is NOT_GIVEN:
        st.caption(f"{arrow}not given")
    elif value == "":
        st.caption(f"{arrow}empty text")
    elif isinstance(value, str) and not _UNSEEN.search(value):
        if "\n" in value or value != value.strip():
            long_text.code(value, key)
        else:
            long_text.verbatim(f"{arrow}{value}", key)
    elif isinstance(value, dict | list | str):
        long_text.code(_spelled(value), key, "json")
    else:
        long_text.verbatim(f"{arrow}{json.dumps(value)}", key)


def _spelled(value: Any) -> str:
    """Return the value as JSON, with invisible characters escaped."""
    text = lay_out(value)
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)
