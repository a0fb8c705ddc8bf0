"""Deltas of the agent state: the difference of two states, and its application.

A delta is `{prepend, drop, keep, append, set, unset}`, each part optional. The new messages are
`prepend + old[drop : drop + keep] + append`; `set` and `unset` change the other keys.
"""

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from backend.types import JSON

MESSAGES = "messages"


def diff_states(old: JSON, new: JSON) -> JSON:
    """Return the delta that turns `old` into `new`; empty when they are equal.

    Finding unchanged messages is fastest when both states share their objects.
    """
    delta = _diff_messages(old.get(MESSAGES, []), new.get(MESSAGES, []))
    changed = {k: v for k, v in new.items() if k != MESSAGES and (k not in old or old[k] != v)}
    gone = [k for k in old if k != MESSAGES and k not in new]
    if changed:
        delta["set"] = changed
    if gone:
        delta["unset"] = gone
    return delta


def apply_deltas(state: JSON, deltas: Iterable[JSON]) -> JSON:
    """Return the state after all deltas, in time that depends on the deltas' size alone."""
    new, messages = dict(state), list(state.get(MESSAGES, []))
    for delta in deltas:
        drop = delta.get("drop", 0)
        if "keep" in delta:
            del messages[drop + delta["keep"] :]
        del messages[:drop]
        messages[:0] = delta.get("prepend", ())
        messages += delta.get("append", ())
        for key in delta.get("unset", ()):
            new.pop(key, None)
        new.update(delta.get("set", {}))
    new[MESSAGES] = messages
    return new


def dropped_messages(delta: JSON, old_count: int) -> int:
    """Return how many of the old messages the model will no longer read."""
    drop = delta.get("drop", 0)
    return old_count - delta["keep"] if "keep" in delta else int(drop)


def _diff_messages(old: list[JSON], new: list[JSON]) -> JSON:
    same = _common_prefix(old, new)
    if same == len(old):
        return _parts(append=new[same:])
    if (cut := _cut_front(old, new)) is not None:
        start, drop = cut
        kept = len(old) - drop
        return _parts(prepend=new[:start], drop=drop, append=new[start + kept :])
    return _parts(keep=same, append=new[same:])


def _cut_front(old: list[JSON], new: list[JSON]) -> tuple[int, int] | None:
    """Find a tail of `old` in `new`: (its start in `new`, how many of `old` are missing)."""
    positions = {id(message): i for i, message in enumerate(old)}
    for start, message in enumerate(new):
        drop = positions.get(id(message))
        if drop is not None:
            kept = len(old) - drop
            return (start, drop) if _common_prefix(old[drop:], new[start:]) == kept else None
    return None


def _common_prefix(old: list[JSON], new: list[JSON]) -> int:
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0] == pair[1], pairs))


def _parts(**parts: Any) -> JSON:
    """Omit empty parts; `keep` counts even when it is 0."""
    return {name: part for name, part in parts.items() if part or name == "keep"}
