"""Shows how two configurations differ, change by change; long texts as a difference of lines."""

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
    """Draw each change: from what the configuration has to what the domain has today."""
    for place, change in enumerate(changes):
        icon, name = ICONS[change.kind], plain(path_words(change), 200)
        brief = _brief(change)
        st.markdown(f"{icon} **{name}** {change.kind}{f': {plain(brief, 200)}' if brief else ''}")
        if not brief and (lines := line_diff(change)):
            long_text.code(lines, f"{key}-{place}", "diff")


def path_words(change: DriftChange) -> str:
    """Return where a change is, from the outside in."""
    return " / ".join(part.replace("_", " ") for part in change.path)


def line_diff(change: DriftChange) -> str:
    """Return the two values as texts, and what differs between their lines."""
    old, new = as_text(change.image).splitlines(), as_text(change.domain).splitlines()
    return "\n".join(diff_lines(old, new, CONTEXT_LINES))


def as_text(value: Any) -> str:
    """A value as people read it: texts as they are, a list line by line, all else as YAML."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return yaml_text.write(value)


def _brief(change: DriftChange) -> str:
    """Return the change within a line, where both values are short; nothing where they are not."""
    sides = {"added": [change.domain], "removed": [change.image]}
    values = sides.get(change.kind, [change.image, change.domain])
    if any(isinstance(value, dict | list) for value in values):
        return ""
    texts = [str(value) for value in values]
    if any(len(text) > SHORT or "\n" in text for text in texts):
        return ""
    return " → ".join(texts)
