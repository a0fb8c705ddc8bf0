"""The fields of the form: each with its help beside it, and what is wrong with it below."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from ui.features.domains.form import body as bodies
from ui.features.domains.form.body import Path
from ui.features.domains.form.draft import Draft
from ui.shared.text import yaml_text
from ui.shared.text.markdown import plain

HEIGHT = 120  # of a field for several lines
Alignment = Literal["top", "center", "bottom"]


@dataclass(frozen=True)
class About:
    """A field's label, its help, and an example."""

    label: str
    help: str = ""
    example: str = ""


@contextmanager
def beside(about: About, alignment: Alignment = "center") -> Iterator[None]:
    """Draw a field with its help beside it, or below it where there is no room."""
    left, right = st.columns([3, 2], gap="small", vertical_alignment=alignment)
    words = about.help
    if about.example:
        words += f"  \nFor example: {about.example}" if words else f"For example: {about.example}"
    if words:
        right.caption(words)
    with left:
        yield


def say(draft: Draft, path: Path) -> None:
    """Draw the errors and warnings at a path."""
    for fault in bodies.at(draft.faults, path):
        draft.said.append(fault)
        st.caption(f":red[:material/error: {plain(fault.message, 600)}]")
    for warning in bodies.at(draft.warnings, path):
        draft.said.append(warning)
        st.caption(f":orange[:material/warning: {plain(warning.message, 600)}]")
    if refused := draft.refused.get(draft.key(*path)):
        st.caption(f":red[:material/error: {plain(refused, 600)}]")


def text(draft: Draft, path: Path, about: About) -> None:
    """Draw a single-line text field; an empty one sets nothing."""
    if not _fits(draft, path, str, about):
        return
    key = _bound(draft, path, draft.get(path, ""), lambda value: value or None)
    with beside(about):
        st.text_input(about.label, key=key)
        say(draft, path)


def area(
    draft: Draft, path: Path, about: About, *, height: int = HEIGHT, placeholder: str | None = None
) -> None:
    """Draw a multi-line text field; an empty one sets nothing."""
    if not _fits(draft, path, str, about):
        return
    key = _bound(draft, path, draft.get(path, ""), lambda value: value or None)
    with beside(about, "top"):
        st.text_area(about.label, key=key, height=height, placeholder=placeholder)
        say(draft, path)


def lines(draft: Draft, path: Path, about: About) -> None:
    """Draw a field for a list of texts, one per line."""
    value = draft.get(path, [])
    fit = isinstance(value, list) and all(
        isinstance(each, str) and each.strip() and "\n" not in each for each in value
    )
    if not fit:
        _elsewhere(draft, path, about)
        return
    key = _bound(draft, path, "\n".join(value), _split_lines)
    with beside(about, "top"):
        st.text_area(about.label, key=key, height=HEIGHT)
        say_below(draft, path)


def number(
    draft: Draft,
    path: Path,
    about: About,
    *,
    default: float | None = None,
    whole: bool = True,
    nothing: str = "None",
) -> None:
    """Draw a number field; an empty one leaves the default, or what `nothing` says."""
    if not _fits(draft, path, int | float, about):
        return
    value = draft.get(path)
    key = _bound(draft, path, None if value is None else float(value), _read_number)
    # Always decimal: a browser would cut the fraction off a whole number, and lose a large one.
    step = 1.0 if whole else 0.01
    shown = nothing if default is None else f"{default:,g} (default)" if default < 1e6 else None
    with beside(about):
        st.number_input(about.label, value=None, step=step, format="%g", key=key, placeholder=shown)
        say(draft, path)


def choice(
    draft: Draft,
    path: Path,
    about: About,
    options: Sequence[str],
    *,
    nothing: str | None = None,
    words: Mapping[str, str] | None = None,
    new: bool = False,
    write: Callable[[Any], None] | None = None,
) -> None:
    """Draw a choice of one text; `nothing` is the label of none, `new`: others can be typed.

    `write` takes what was chosen, where that changes more than this field.
    """
    if not _fits(draft, path, str, about):
        return
    value = draft.get(path, "" if nothing is not None else None)
    first = [""] if nothing is not None else []
    listed = list(dict.fromkeys([*first, *options, *([value] if value is not None else [])]))
    put = write or (lambda chosen: draft.put(path, chosen or None))
    key = draft.key(*path)
    draft.bind(key, value, put)
    if (held := st.session_state.get(key)) is not None and held not in listed:
        listed.append(held)
    with beside(about):
        st.selectbox(
            about.label,
            listed,
            key=key,
            format_func=lambda each: (words or {}).get(each, each) or (nothing or ""),
            accept_new_options=new,
            placeholder="Choose, or type a name" if new else "Choose",
        )
        say(draft, path)


def many(
    draft: Draft,
    path: Path,
    about: About,
    options: Sequence[str],
    *,
    none_is_list: bool = False,
    new: bool = True,
    words: Callable[[str], str] = str,
    empty: str = "None",
) -> None:
    """Draw a choice of several texts; none sets nothing or, with `none_is_list`, an empty list."""
    value = draft.get(path, [])
    if not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        _elsewhere(draft, path, about)
        return
    key = _bound(draft, path, value, lambda v: list(v) if v or none_is_list else None)
    held = st.session_state.get(key) or []
    with beside(about):
        st.multiselect(
            about.label,
            list(dict.fromkeys([*options, *value, *held])),
            key=key,
            placeholder=empty,
            accept_new_options=new,
            format_func=words,
        )
        say_below(draft, path)


def switch(draft: Draft, path: Path, about: About, *, on: Any, is_on: bool) -> None:
    """Draw a switch that sets `on` or removes the value; switching redraws all fields."""
    key = draft.key(*path, "switch")

    def turn(value: Any) -> None:
        draft.put(path, on if value else None)

    draft.bind(key, is_on, turn)
    with beside(about):
        st.toggle(about.label, key=key)


def say_below(draft: Draft, path: Path) -> None:
    """Draw the errors at a list and at each place within it."""
    say(draft, path)
    for fault in draft.faults:
        place = tuple(fault.path)
        if place[: len(path)] == path and len(place) > len(path) and fault not in draft.said:
            draft.said.append(fault)
            where = plain(bodies.place_words(fault.path[len(path) :]), 300)
            st.caption(f":red[:material/error: {where}: {plain(fault.message, 600)}]")


def _bound(draft: Draft, path: Path, shown: Any, read: Callable[[Any], Any]) -> str:
    key = draft.key(*path)
    draft.bind(key, shown, lambda value: draft.put(path, read(value)))
    return key


def _read_number(value: float | None) -> float | None:
    return int(value) if value is not None and value.is_integer() else value


def _split_lines(text: str) -> list[str] | None:
    return [line.strip() for line in text.splitlines() if line.strip()] or None


def _fits(draft: Draft, path: Path, kind: Any, about: About) -> bool:
    """Return whether the field can show the draft's value; if not, say where to edit it."""
    value = draft.get(path)
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return True
    _elsewhere(draft, path, about)
    return False


def _elsewhere(draft: Draft, path: Path, about: About) -> None:
    with beside(about, "top"):
        st.markdown(f"{about.label}  \n:gray[The form cannot show this value; edit it in *YAML*.]")
        st.code(yaml_text.write(draft.get(path)) or repr(draft.get(path)), "yaml", wrap_lines=True)
        say_below(draft, path)
