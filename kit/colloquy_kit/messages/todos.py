"""The ids of todos: an agent writes its list anew each time, and each item keeps its id. Pure."""

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from colloquy_kit.types import JSON

ALIKE = 0.6  # the share of two wordings from which they are one item's
COMPARED_CHARS = 300


def with_ids(todos: Any) -> Any:
    """Return the items of a stored list with ids: those that were stored, else derived from them.

    The same list gets the same ids whenever it is read. Another value than a list stays as it is.
    """
    return keep_ids((), todos)


def keep_ids(before: Any, todos: Any) -> Any:
    """Return a new list in which each item has the id of the one that it continues.

    That is the item of `before` with the same text, else the one at the same place if it was only
    reworded. What continues none gets an id of its own.
    """
    if not isinstance(todos, list):
        return todos
    old = with_ids(before) if isinstance(before, list) and before else []
    free = {one["id"]: one for one in old if isinstance(one, dict)}
    taken: set[str] = set(free)
    ids: list[str | None] = [None] * len(todos)
    for place, item in enumerate(todos):  # an id that is there already
        known = item.get("id") if isinstance(item, dict) else None
        if isinstance(known, str) and known and known not in ids:
            ids[place] = known
            free.pop(known, None)
            taken.add(known)
    for place, item in enumerate(todos):
        if ids[place] is None and isinstance(item, dict):
            same = (name for name, one in free.items() if _text(one) == _text(item))
            ids[place] = free.pop(found, {}).get("id") if (found := next(same, None)) else None
    for place, item in enumerate(todos):
        if ids[place] is None and isinstance(item, dict):
            there = old[place] if place < len(old) else None
            name = there["id"] if isinstance(there, dict) else None
            is_reworded = name in free and _are_alike(_text(there), _text(item))
            ids[place] = free.pop(name)["id"] if is_reworded else _new_id(item, taken)
            taken.add(str(ids[place]))
    return [
        {**item, "id": name} if isinstance(item, dict) else item
        for item, name in zip(todos, ids, strict=True)
    ]


def _text(item: Any) -> str:
    return str(item.get("content") or "") if isinstance(item, dict) else ""


def _are_alike(one: str, other: str) -> bool:
    texts = (one[:COMPARED_CHARS], other[:COMPARED_CHARS])
    return SequenceMatcher(None, *texts, autojunk=False).ratio() >= ALIKE


def _new_id(item: JSON, taken: Iterable[str]) -> str:
    """Derive an id from the text, so that a list without ids gets the same ones at each reading."""
    number = 0
    while (name := str(uuid5(NAMESPACE_OID, f"todo {number} {_text(item)}"))) in taken:
        number += 1
    return name
