"""Footnotes: `[^1]` is a raised 1, and its note stays where it is written, behind the same mark.

So a text reads the same in parts as in one, and nothing moves while it is written.
`ui/assets/dialect.js` has the same rule.
"""

import re

from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline

NOTE = "note"
_BREAKS = ("softbreak", "hardbreak")
_NOTE = re.compile(r"\[\^([^\[\]\s^]{1,40})\](:[ \t]*)?")
_DEFINED = re.compile(r"^[ \t]*\[\^([^\[\]\s^]{1,40})\]:", re.MULTILINE)


def find_notes(state: StateCore) -> None:
    """Gather the labels of all notes, before any line is read."""
    labels = state.env.setdefault(NOTE, set())
    for token in state.tokens:
        if token.type == "inline":
            labels.update(_DEFINED.findall(token.content))


def read_note(state: StateInline, silent: bool) -> bool:
    """Read the mark of a note, if there is such a note."""
    found = _NOTE.match(state.src, state.pos, state.posMax)
    if found is None or found[1] not in state.env.get(NOTE, ()):
        return False
    if not silent:
        before = state.tokens[-1] if state.tokens and not state.pending else None
        is_note = not state.pending and (before is None or before.type in _BREAKS)
        if found[2] and is_note and before:
            before.type = "hardbreak"
        state.push(NOTE, "sup", 0).content = found[1]
        state.pending += " " if found[2] and is_note else found[2] or ""
    state.pos = found.end()
    return True
