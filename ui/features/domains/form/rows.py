"""Lists of the form: rows that are added, moved and removed; pairs of a name and a value."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import streamlit as st

from ui.features.domains.form import body as bodies
from ui.features.domains.form.body import Path
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import say_below
from ui.shared import icons


def buttons(draft: Draft, path: Path, place: int, what: str) -> None:
    """The ways to move a row of a list, and to remove it."""
    entries: list[Any] = draft.get(path)
    with icons.alone(draft.key(*path, place)):
        if place > 0:
            _button(draft, path, place, ":material/arrow_upward:", f"Move {what} up", _swap, -1)
        if place < len(entries) - 1:
            _button(draft, path, place, ":material/arrow_downward:", f"Move {what} down", _swap, 1)
        _button(draft, path, place, ":material/delete:", f"Remove {what}", _drop, 0)


def head() -> AbstractContextManager[Any]:
    """Return the line that a row begins with: its name on the left, its buttons on the right."""
    return st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    )


def add(draft: Draft, path: Path, entry: Any, *, first: bool = False) -> None:
    """Put another row into a list; for callbacks."""
    draft.absorb()
    entries = list(draft.get(path, []))
    draft.rearrange(path, [entry, *entries] if first else [*entries, entry])


def remove_entry(draft: Draft, path: Path) -> None:
    """Take a named entry out; for callbacks."""
    draft.rearrange(path, None)


def pairs(draft: Draft, path: Path, label: str, words: tuple[str, str, str]) -> None:
    """Names with a value each. `words`: what a name is called, an example of it, and of a value."""
    what, name_example, value_example = words
    entries = draft.get(path, {})
    st.caption(label)
    if not (isinstance(entries, dict) and all(isinstance(v, str) for v in entries.values())):
        st.caption(":gray[Another kind of value stands here; see *YAML*.]")
        say_below(draft, path)
        return
    for number, (name, value) in enumerate(entries.items()):
        _pair(draft, path, number, name, value, what)
    say_below(draft, path)
    st.button(
        f"Add {what.lower()}",
        key=draft.key(*path, "add"),
        type="tertiary",
        icon=":material/add:",
        help=f"For example {name_example} with {value_example}",
        on_click=_add_pair,
        args=(draft, path, name_example),
    )


def rename(draft: Draft, path: Path, key: str, old: str, new: str) -> None:
    """Give an entry another name, unless that is taken."""
    entries: dict[str, Any] = draft.get(path)
    if new in entries:
        draft.refused[key] = f"There is one of this name already: {new}. Choose another name."
        return
    draft.refused.pop(key, None)
    draft.put(path, bodies.renamed(entries, old, new))
    draft.rows += 1


def _pair(draft: Draft, path: Path, number: int, name: str, value: str, what: str) -> None:
    name_key, value_key = draft.key(*path, number, "name"), draft.key(*path, number, "value")
    write = partial(rename, draft, path, name_key, name)
    draft.bind(name_key, name, write, is_name=True)
    draft.bind(value_key, value, lambda new: draft.put((*path, name), new or ""))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(what, key=name_key, width=200)
        st.text_input("Value", key=value_key)
        removal = f"Remove {what.lower()} {number + 1}"
        with icons.alone(draft.key(*path, number)):
            st.button(
                removal,
                key=draft.key(*path, number, "remove"),
                type="tertiary",
                icon=":material/delete:",
                help=removal,
                on_click=remove_entry,
                args=(draft, (*path, name)),
            )
    if refused := draft.refused.get(name_key):
        st.caption(f":red[:material/error: {refused}]")


def _add_pair(draft: Draft, path: Path, example: str) -> None:
    draft.absorb()
    entries = dict(draft.get(path, {}))
    draft.rearrange(path, {**entries, free_name(example, entries): ""})


def free_name(wanted: str, taken: Any) -> str:
    """Return a name that nothing has yet."""
    names = (f"{wanted}{'' if n == 1 else f'_{n}'}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _button(
    draft: Draft,
    path: Path,
    place: int,
    icon: str,
    said: str,
    act: Callable[[list[Any], int, int], None],
    by: int,
) -> None:
    st.button(
        said,
        key=draft.key(*path, place, said.split()[-1] if by else "remove"),
        type="tertiary",
        icon=icon,
        help=said,
        on_click=_change,
        args=(draft, path, place, act, by),
    )


def _change(
    draft: Draft, path: Path, place: int, act: Callable[[list[Any], int, int], None], by: int
) -> None:
    draft.absorb()
    entries = list(draft.get(path))
    act(entries, place, by)
    draft.rearrange(path, entries or None)


def _swap(entries: list[Any], place: int, by: int) -> None:
    entries[place], entries[place + by] = entries[place + by], entries[place]


def _drop(entries: list[Any], place: int, by: int) -> None:
    del entries[place]
