"""Buttons for the next and the previous page of a list."""

from uuid import UUID

import streamlit as st


def by_cursor(
    cursors: list[str], next_cursor: str | None, key: str, names: tuple[str, str]
) -> None:
    """Draw two buttons, for the previous and the next page; `cursors` are those already passed."""
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
    places: dict[UUID, int | None],
    session_id: UUID,
    next_before: int | None,
    key: str,
    names: tuple[str, str],
    older_icon: str,
) -> None:
    """Draw two buttons, for older entries and for the latest; none if there is one page.

    `places`: by session, the position before which its page shows entries; None: the latest.
    """
    before = places.get(session_id)
    if next_before is None and before is None:
        return
    older, latest = names
    with st.container(horizontal=True):
        st.button(
            older,
            key=f"{key}-older",
            icon=older_icon,
            disabled=next_before is None,
            on_click=places.__setitem__,
            args=(session_id, next_before),
        )
        st.button(
            latest,
            key=f"{key}-latest",
            icon=":material/keyboard_double_arrow_down:",
            disabled=before is None,
            on_click=places.__setitem__,
            args=(session_id, None),
        )


def _go(cursors: list[str], to: list[str]) -> None:
    """Show the requested page; a second click leads to the same one."""
    cursors[:] = to
