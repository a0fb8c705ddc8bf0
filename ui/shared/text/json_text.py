"""JSON as text for reading: laid out in lines where that does not make it many times as long. Pure.

Each line of a nested value begins with blanks: a megabyte at great depth would become a gigabyte.
"""

import json
from typing import Any

INDENT = 2
MAX_DEPTH = 60
MAX_BLANKS = 1_000_000


def lay_out(value: Any, *, sort_keys: bool = False) -> str:
    """Return the value line by line, or in one line where it is nested too deeply for that."""
    indent = INDENT if _is_modest(value) else None
    try:
        return json.dumps(
            value, indent=indent, ensure_ascii=False, sort_keys=sort_keys, default=str
        )
    except RecursionError:
        return "(nested too deeply to be shown)"


def _is_modest(value: Any) -> bool:
    """Return whether depth and blanks stay in bounds; counting ends as soon as they do not."""
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
