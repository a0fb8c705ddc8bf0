"""Lists in the form: rows that can be added, moved and removed, and name-value pairs."""

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


def buttons(
    draft: Draft, path: Path, place: int, what: str, *, needed_by: Path | None = None
) -> None:
    """Draw the buttons that move and remove a row of a list.

    The only row is removed with the row that needs one, if there is such a row.
    """
    entries: list[Any] = draft.get(path)
    key, row = partial(draft.key, *path, place), (*path, place)
    with icons.alone(key()):
        if place > 0:
            _button(draft, key("up"), ":material/arrow_upward:", f"Move {what} up", row, _swap, -1)
        if place < len(entries) - 1:
            _button(
                draft, key("down"), ":material/arrow_downward:", f"Move {what} down", row, _swap, 1
            )
        gone = needed_by if needed_by and len(entries) == 1 else row
        _button(draft, key("remove"), ":material/delete:", f"Remove {what}", gone, _drop, 0)


def head() -> AbstractContextManager[Any]:
    """Return the container of a row's first line: name on the left, buttons on the right."""
    return st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    )


def add(draft: Draft, path: Path, entry: Any, *, first: bool = False) -> None:
    """Add a row to a list; for callbacks."""
    draft.absorb()
    entries = list(draft.get(path, []))
    draft.rearrange(path, [entry, *entries] if first else [*entries, entry])


def remove_entry(draft: Draft, path: Path) -> None:
    """Remove a named entry; for callbacks."""
    draft.rearrange(path, None)


def pairs(draft: Draft, path: Path, label: str, words: tuple[str, str, str]) -> None:
    """Draw name-value pairs. `words`: the label of a name, an example name, an example value."""
    what, name_example, value_example = words
    entries = draft.get(path, {})
    st.caption(label)
    if not (isinstance(entries, dict) and all(isinstance(v, str) for v in entries.values())):
        st.caption(":gray[The form cannot show this value; edit it in *YAML*.]")
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
    """Rename an entry, unless the name is taken."""
    entries: dict[str, Any] = draft.get(path)
    if new in entries:
        draft.refused[key] = f"The name {new} is already in use. Choose another name."
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
    """Return a name that is not taken."""
    names = (f"{wanted}{'' if n == 1 else f'_{n}'}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _button(
    draft: Draft,
    key: str,
    icon: str,
    said: str,
    row: Path,
    act: Callable[[list[Any], int, int], None],
    by: int,
) -> None:
    st.button(
        said,
        key=key,
        type="tertiary",
        icon=icon,
        help=said,
        on_click=_change,
        args=(draft, row[:-1], row[-1], act, by),
    )


def _change(
    draft: Draft, path: Path, place: int, act: Callable[[list[Any], int, int], None], by: int
) -> None:
    draft.absorb()
    entries = list(draft.get(path))
    act(entries, place, by)
    # Within another field, an empty list differs from none: an agent without middleware of its own
    # has the domain's.
    draft.rearrange(path, entries if entries or len(path) > 1 else None)


def _swap(entries: list[Any], place: int, by: int) -> None:
    entries[place], entries[place + by] = entries[place + by], entries[place]


def _drop(entries: list[Any], place: int, by: int) -> None:
    del entries[place]
