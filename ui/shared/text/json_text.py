"""Formats JSON for reading: over several lines unless that makes it many times longer. Pure.

Each line of a nested value is indented: a megabyte at great depth would become a gigabyte.
"""

import json
from typing import Any

INDENT = 2
MAX_DEPTH = 60
MAX_BLANKS = 1_000_000


def lay_out(value: Any, *, sort_keys: bool = False) -> str:
    """Return the value over several lines, or in one line if it is nested too deeply."""
    indent = INDENT if _is_modest(value) else None
    try:
        return json.dumps(
            value, indent=indent, ensure_ascii=False, sort_keys=sort_keys, default=str
        )
    except RecursionError:
        return "(nested too deeply to be shown)"


def _is_modest(value: Any) -> bool:
    """Return whether depth and indentation are within limits; stop counting once they are not."""
    left, depth, blanks = [value], 0, 0
    while left:
        depth += 1
        parts: list[Any] = []
        for one in left:
            if isinstance(one, dict):
                parts += one.values()
            elif isinstance(one, list):
                parts += one
        blanks += INDENT * depth * len(parts)
        if depth > MAX_DEPTH or blanks > MAX_BLANKS:
            return False
        left = parts
    return True
