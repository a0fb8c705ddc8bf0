"""Naming servers' tools for models: distinct, valid, and the same in each turn."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from anyascii import anyascii

from backend.llm.form.plain import MAX_NAME

_NOT_IN_NAMES = re.compile(r"[^\w-]", re.ASCII)

ToolKey = tuple[str, str]  # a server's name, and its tool's


def assign_names(
    listed: Mapping[str, Sequence[str]],
    remembered: Iterable[ToolKey],
    reserved: Collection[str] = (),
) -> dict[ToolKey, str]:
    """Return each tool's name: its own, or `server__tool` where that is taken or reserved.

    Remembered tools, first seen first, get their names before new ones, and keep them while their
    server is down. Pure.
    """
    fresh = [(server, tool) for server, tools in listed.items() for tool in tools]
    names: dict[ToolKey, str] = {}
    taken = set(reserved)
    for key in dict.fromkeys([*remembered, *fresh]):
        names[key] = _free_name(*key, taken)
        taken.add(names[key])
    return names


def ascii_name(name: str) -> str:
    """Return a name in letters, digits, `_` and `-`, as models' endpoints want it.

    Other scripts are spelt in Latin letters: 查询数据 is ChaXunShuJu.
    """
    return _NOT_IN_NAMES.sub("_", anyascii(name))


def _free_name(server: str, tool: str, taken: Collection[str]) -> str:
    name = ascii_name(tool)[:MAX_NAME]
    full, number = ascii_name(f"{server}__{tool}"), 1
    while not name or name in taken:
        tail = f"_{number}" if number > 1 else ""
        name = full[: MAX_NAME - len(tail)] + tail
        number += 1
    return name
