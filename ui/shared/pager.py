"""The way to the next page of a list, and back."""

from collections.abc import Callable
from uuid import UUID

import streamlit as st


def by_cursor(
    cursors: list[str], next_cursor: str | None, key: str, names: tuple[str, str]
) -> None:
    """Two buttons, named for the page before and the one after; `cursors` are those gone by."""
    before, after = names
    if cursors:
        st.button(
            before,
            key=f"{key}-back",
            icon=":material/chevron_left:",
            on_click=_go,
            args=(cursors, cursors[:-1]),
        )
    if next_cursor is not None:
        st.button(
            after,
            key=f"{key}-next",
            icon=":material/chevron_right:",
            icon_position="right",
            on_click=_go,
            args=(cursors, [*cursors, next_cursor]),
        )


def by_position(
    session_id: UUID,
    before: int | None,
    next_before: int | None,
    go: Callable[[UUID, int | None], None],
    key: str,
    names: tuple[str, str],
    older_icon: str,
) -> None:
    """Two buttons, named for what is older and for the latest; nothing where there is one page."""
    if next_before is None and before is None:
        return
    older, latest = names
    with st.container(horizontal=True):
        st.button(
            older,
            key=f"{key}-older",
            icon=older_icon,
            disabled=next_before is None,
            on_click=go,
            args=(session_id, next_before),
        )
        st.button(
            latest,
            key=f"{key}-latest",
            icon=":material/keyboard_double_arrow_down:",
            disabled=before is None,
            on_click=go,
            args=(session_id, None),
        )


def _go(cursors: list[str], to: list[str]) -> None:
    """Show the page that was clicked for; a second click leads to the same one."""
    cursors[:] = to
