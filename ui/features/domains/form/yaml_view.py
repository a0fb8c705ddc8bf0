"""The draft as YAML: the same domain as text, with faults shown at their lines."""

import streamlit as st

from backend.schemas.domains.configuration import Fault
from ui.features.domains.form import body as bodies
from ui.features.domains.form.draft import Draft
from ui.shared.text import yaml_text
from ui.shared.text.markdown import plain

LINE_PIXELS, LEAST, MOST = 21, 240, 720
MOST_FAULTS = 30


def show(draft: Draft) -> None:
    """Draw the text, and below it each fault with its line number and line."""
    text = draft.yaml()
    key = draft.text_key
    draft.bind(key, text, draft.read_yaml)
    st.caption(
        "The same as the form, as text. Fields left out have their defaults. Comments are not"
        " saved."
    )
    height = min(max(LEAST, LINE_PIXELS * (text.count("\n") + 3)), MOST)
    with st.container(key=f"yaml-text-{draft.name}"):
        st.text_area("YAML", key=key, height=height, label_visibility="collapsed")
    faults(draft)


def faults(draft: Draft) -> None:
    """Draw each fault of the draft with its line of the text."""
    if draft.unread:
        st.error(plain(draft.unread.message, 600), icon=":material/error:")
        _line(draft.unread_line, draft.yaml().splitlines())
        return
    if not draft.faults and not draft.warnings:
        st.caption(":green[:material/check: No errors.]")
        return
    text = draft.yaml()
    lines = text.splitlines()
    found = yaml_text.lines_of(text, [fault.path for fault in (*draft.faults, *draft.warnings)])
    draft.said += draft.faults
    numbered = list(zip((*draft.faults, *draft.warnings), found, strict=True))
    for fault, number in numbered[:MOST_FAULTS]:
        _fault(fault, number, lines, is_warning=fault not in draft.faults)
    if len(numbered) > MOST_FAULTS:
        st.caption(f"Showing the first {MOST_FAULTS} of {len(numbered)}.")


def _fault(fault: Fault, number: int | None, lines: list[str], *, is_warning: bool) -> None:
    color, icon = ("orange", "warning") if is_warning else ("red", "error")
    where = plain(bodies.place_words(fault.path), 300) or "The whole text"
    line = f"Line {number}" if number else "Missing"
    st.markdown(f":{color}[:material/{icon}: **{line}**] · {where}: {plain(fault.message, 600)}")
    _line(number, lines)


def _line(number: int | None, lines: list[str]) -> None:
    """Draw a line of the text with its number, if there is one."""
    if number and number <= len(lines):
        st.code(f"{number:>4} | {lines[number - 1][:200]}", None)
