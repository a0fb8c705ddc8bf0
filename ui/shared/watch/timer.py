"""Draws the page again after some seconds, for as long as something lasts."""

from collections.abc import Callable

import streamlit as st

from ui import navigation


def rerun_every(seconds: float, differs: Callable[[], bool] = lambda: True) -> None:
    """Draw the page again after some seconds, each time that `differs` says so."""
    drawn: list[bool] = []

    @st.fragment(run_every=seconds)
    def look() -> None:
        if drawn and not navigation.is_stale() and differs():
            st.rerun()
        drawn.append(True)

    look()
