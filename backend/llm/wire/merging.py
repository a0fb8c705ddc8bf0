"""Joining the pieces of a field that arrived in several deltas. Pure.

Texts are concatenated, objects merged key by key, lists by the `index` and `type` of their
elements; of anything else the last value counts, also of texts that arrive whole.
"""

from typing import Any

from backend.types import JSON

# Repeated with each piece, or sent once and never split.
WHOLE = frozenset(
    [
        *("type", "id", "format", "name", "role", "object", "status", "index"),
        *("signature", "thought_signature", "data", "encrypted_content"),
    ]
)
# Elements that continue from one delta to the next even without an index.
_IN_PIECES = ("text", "thinking", "reasoning", "summary")
_PROOFS = ("signature", "data")


class Pieces:
    """Fields that arrive in pieces; joined in pairs, so that many cost little more than few."""

    def __init__(self) -> None:
        self._joined: list[tuple[int, JSON]] = []

    def add(self, fields: JSON) -> None:
        """Add a further piece of some fields."""
        count = 1
        while self._joined and self._joined[-1][0] == count:
            fields = merge(self._joined.pop()[1], fields)
            count *= 2
        self._joined.append((count, fields))

    def joined(self) -> JSON:
        """Return all fields, joined."""
        whole: JSON = {}
        for _, fields in self._joined:
            whole = merge(whole, fields)
        return whole


def merge(old: Any, new: Any, key: str = "") -> Any:
    """Return a value joined with a further piece; neither of them is changed."""
    if new is None:
        return old
    if isinstance(old, str) and isinstance(new, str):
        return (new or old) if key in WHOLE else old + new
    if isinstance(old, dict) and isinstance(new, dict):
        joined = {name: merge(old[name], new[name], name) for name in old.keys() & new.keys()}
        return {**old, **new, **joined}
    if isinstance(old, list) and isinstance(new, list):
        return _merge_lists(old, new)
    return new


def _merge_lists(old: list[Any], new: list[Any]) -> list[Any]:
    merged = list(old)
    for element in new:
        place = _place_of(element, merged)
        if place is None:
            merged.append(element)
        else:
            merged[place] = merge(merged[place], element)
    return merged


def _place_of(element: Any, merged: list[Any]) -> int | None:
    """Return the place of the element that a new one continues; None if it is a new one."""
    if not isinstance(element, dict) or not merged:
        return None
    if element.get("index") is not None:
        places = (p for p, other in enumerate(merged) if _is_same(other, element))
        return next(places, None)
    last = merged[-1]
    goes_on = isinstance(last, dict) and _is_same(last, element) and not _is_proven(last)
    in_pieces = str(element.get("type")).startswith(_IN_PIECES)
    return len(merged) - 1 if goes_on and in_pieces else None


def _is_same(one: Any, other: JSON) -> bool:
    if not isinstance(one, dict):
        return False
    ids = {each["id"] for each in (one, other) if isinstance(each.get("id"), str | int)}
    same = (one.get(key) == other.get(key) for key in ("index", "type"))
    return all(same) and len(ids) <= 1


def _is_proven(element: JSON) -> bool:
    """Return whether it is complete: its signature comes at the end."""
    return any(element.get(key) for key in _PROOFS)
