"""The list of keyboard shortcuts, and the button that opens it."""

import streamlit as st

KEY = "shortcuts"  # `keys.js` presses it
SHORTCUTS = (
    (
        "Anywhere",
        (
            ("Ctrl+K", "Search in messages"),
            ("Ctrl+Shift+O", "Start a new chat"),
            ("Esc", "Stop the running turn, or close a dialog or menu"),
            ("?", "Show this list"),
        ),
    ),
    (
        "Message",
        (
            ("Enter Ctrl+Enter", "Send the message"),
            ("Shift+Enter", "Start a new line"),
            ("Esc", "Cancel the editing of a message"),
            ("@", "Choose an agent to ask, in domains with a manager"),
        ),
    ),
    (
        "Session list",
        (
            ("↑ ↓ Home End", "Move between rows"),
            ("Enter", "Open the session"),
            ("F2", "Rename the session"),
            ("Delete", "Delete the session, after confirmation"),
            ("Shift+F10", "Open the session's menu"),
            ("Ctrl+click Shift+click", "Select several sessions"),
            ("Esc", "Clear the selection"),
        ),
    ),
)
MAC = "On a Mac, ⌘ does what Ctrl does."


def button() -> None:
    """Draw the button that opens the list."""
    if st.button("Keyboard shortcuts", key=KEY, type="tertiary", icon=":material/keyboard:"):
        _show()


@st.dialog("Keyboard shortcuts")
def _show() -> None:
    lines = ["| Key | What it does |", "|---|---|"]
    for place, keys in SHORTCUTS:
        lines += [f"| **{place}** | |", *map(_line, keys)]
    st.markdown("\n".join(lines))
    st.caption(MAC)


def _line(shortcut: tuple[str, str]) -> str:
    keys, does = shortcut
    return f"| {' '.join(f'`{key}`' for key in keys.split())} | {does} |"
