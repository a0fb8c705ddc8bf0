"""The list of keys that do something on these pages, and the button that opens it."""

import streamlit as st

KEY = "shortcuts"  # `keys.js` presses it
SHORTCUTS = (
    (
        "Anywhere",
        (
            ("Ctrl+K", "Search in messages"),
            ("Ctrl+Shift+O", "Start a new chat"),
            ("Esc", "Stop the turn that runs, or close what lies over the page"),
            ("?", "Show this list"),
        ),
    ),
    (
        "Message",
        (
            ("Enter", "Send it"),
            ("Shift+Enter", "Begin a new line"),
            ("@", "Choose the agent to write to, where there is a manager"),
        ),
    ),
    (
        "Session list",
        (
            ("↑ ↓ Home End", "Go from row to row"),
            ("Enter", "Open the session"),
            ("F2", "Rename it"),
            ("Delete", "Delete it, after a question"),
            ("Shift+F10", "Open its menu"),
            ("Ctrl+click Shift+click", "Select several sessions"),
            ("Esc", "End the selection"),
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
