"""Uploads: the browser sends files to the API itself, and any of the pages' servers passes them on.

Streamlit's own uploader would send them to the memory of the one server that draws the page;
`ui.sign_in.gate` refuses that.
"""

from functools import partial
from uuid import uuid4

import streamlit as st

from ui.shared import assets

HEARD = "-heard"
_component = st.components.v2.component(
    "colloquy_uploads",
    html='<div class="cq-uploads"></div>',
    js=assets.loader("conversation/uploads.js"),
    isolate_styles=False,
)


def show(
    path: str, label: str, help: str, max_mb: int, *, are_many: bool = True, asks: bool = False
) -> bool:
    """Draw the place for files that this path of the API takes.

    `asks`: it refuses a file whose name another one has, and takes a decision, `if_exists`. Return
    whether a file has been uploaded since the run before, so that lists are read anew.
    """
    key = f"upload-{path}"
    data = {"path": path, "label": label, "help": help, "maxMb": max_mb}
    data |= {"areMany": are_many, "asks": asks}
    # What is told while no server is reached is lost, so it is told until a run has heard it.
    data |= {"heard": st.session_state.get(key + HEARD, ""), "run": uuid4().hex}
    asked = _component(key=key, data=data, on_uploaded_change=partial(_hear, key))
    return bool(asked.get("uploaded"))


def _hear(key: str) -> None:
    st.session_state[key + HEARD] = st.session_state[key]["uploaded"]
