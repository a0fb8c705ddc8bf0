"""Shows how two configurations differ, change by change; long texts as a line diff."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from backend.schemas.domains.configuration import DriftChange
from ui.shared.text import long_text, yaml_text
from ui.shared.text.line_diff import diff_lines
from ui.shared.text.markdown import plain

CONTEXT_LINES = 2
ICONS = {
    "added": ":material/add:",
    "removed": ":material/remove:",
    "changed": ":material/edit:",
}
SHORT = 60


def show(changes: Sequence[DriftChange], key: str) -> None:
    """Draw each change, from the configuration's value to the domain's current one."""
    for place, change in enumerate(changes):
        icon, name = ICONS[change.kind], plain(path_words(change), 200)
        brief = _brief(change)
        st.markdown(f"{icon} **{name}** {change.kind}{f': {plain(brief, 200)}' if brief else ''}")
        if not brief and (lines := line_diff(change)):
            long_text.code(lines, f"{key}-{place}", "diff")


def path_words(change: DriftChange) -> str:
    """Return the path of a change, outermost part first."""
    return " / ".join(part.replace("_", " ") for part in change.path)


def line_diff(change: DriftChange) -> str:
    """Return the line diff of the two values as texts."""
    old, new = as_text(change.image).splitlines(), as_text(change.domain).splitlines()
    return "\n".join(diff_lines(old, new, CONTEXT_LINES))


def as_text(value: Any) -> str:
    """Return a readable value: texts unchanged, a list line by line, anything else as YAML."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return yaml_text.write(value)


def _brief(change: DriftChange) -> str:
    """Return the change in one line if both values are short, else an empty text."""
    sides = {"added": [change.domain], "removed": [change.image]}
    values = sides.get(change.kind, [change.image, change.domain])
    if any(isinstance(value, dict | list) for value in values):
        return ""
    texts = [str(value) for value in values]
    if any(len(text) > SHORT or "\n" in text for text in texts):
        return ""
    return " → ".join(texts)
