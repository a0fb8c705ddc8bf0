"""The one-time link that is shown once, to be copied, until its dialog is closed."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st

from backend.addresses import one_time_link
from backend.schemas.people.people import Mailed
from ui import state
from ui.features.people import words
from ui.shared.text.markdown import plain

_SHOWN = "people"


@dataclass(frozen=True)
class Secret:
    """A link for `name`, and what to do with it."""

    name: str
    text: str
    about: str
    is_warning: bool = False


def keep_link(name: str, token: str, mailed: Mailed | None) -> None:
    """Keep a one-time link for the dialog."""
    here = urlsplit(st.context.url or "")
    link = one_time_link(f"{here.scheme}://{here.netloc}", token)
    failed = mailed is not None and mailed.problem is not None
    state.memory().shown_once[_SHOWN] = Secret(name, link, words.mail_words(mailed), failed)


def forget() -> None:
    """Forget what was shown: another dialog opens."""
    state.memory().shown_once.pop(_SHOWN, None)


def show() -> bool:
    """Draw what there is to copy; return whether there is something."""
    found = state.memory().shown_once.get(_SHOWN)
    if not isinstance(found, Secret):
        return False
    st.markdown(f"**For {plain(found.name, 80)}**")
    st.code(found.text, None, wrap_lines=True)
    (st.warning if found.is_warning else st.caption)(plain(found.about, 500))
    return True
