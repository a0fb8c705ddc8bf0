"""JSON of any depth, which Python's own parser refuses beyond some hundreds of levels."""

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # Python's own, untyped
from typing import Any

DEEPEST = 200_000
_TOKEN = re.compile(r'[\s,:]*(?:([\[{\]}"])|([^\s\[\]{},:"]+))')


def parse_deep(text: str) -> Any:
    """Return what a JSON text holds. Raise ValueError. Slower, and laxer with commas and colons."""
    top: list[Any] = []
    opened: list[Any] = [top]  # the arrays and objects around the place
    keys: list[Any] = [None]  # in each, the key that waits for its value
    for mark, value in _tokens(text):
        if mark in ("}", "]"):
            closed = opened.pop()
            if keys.pop() is not None or not opened or isinstance(closed, dict) != (mark == "}"):
                raise ValueError("brackets do not match")
            continue
        if isinstance(opened[-1], list):
            opened[-1].append(value)
        elif keys[-1] is not None:
            opened[-1][keys[-1]] = value
            keys[-1] = None
        elif mark == '"':
            keys[-1] = value
        else:
            raise ValueError("a key is missing")
        if mark in ("{", "["):
            opened.append(value)
            keys.append(None)
            if len(opened) > DEEPEST:
                raise ValueError("it is too deep")
    if len(opened) != 1 or len(top) != 1:
        raise ValueError("it ends early, or goes on after its end")
    return top[0]


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    """Yield brackets with new objects and arrays, strings, and other values, with their marks."""
    position = 0
    while (found := _TOKEN.match(text, position)) is not None:
        position = found.end()
        mark: str = found[1] or ""
        if mark == '"':
            value, position = scanstring(text, position, True)
            yield mark, value
        elif mark:
            yield mark, {} if mark == "{" else []
        else:
            yield mark, json.loads(found[2])
    if text[position:].strip():
        raise ValueError("it goes on after its end")
