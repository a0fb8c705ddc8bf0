"""Finding and replacing references to earlier tasks' outputs, such as `@t1.output.rows`."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from backend.text import UNSPACED
from backend.types import JSON

WHOLE = re.compile(r"@(\w[\w-]*)\.output((?:\.[\w-]+)*)")
# Within text that has no spaces between words, a key ends with its script: 用@t1.output.rows写.
_KEY = rf"(?:(?![{UNSPACED}])[\w-])+|[{UNSPACED}][\w-]*"
_WITHIN = re.compile(rf"@(\w[\w-]*)\.output((?:\.(?:{_KEY}))*)")
_ADDRESS = re.compile(rf"[^\W{UNSPACED}]|\.")  # before an @: an e-mail address, not a reference


class ReferenceMissing(ValueError):
    """A reference names something that the earlier task's output does not have."""


def find_references(value: Any) -> list[str]:
    """Return the ids of the tasks that texts within a value refer to, each once, in order."""
    if isinstance(value, str):
        found = [match[1] for match in _matches(value)]
    elif isinstance(value, Mapping):
        found = [one for inner in value.values() for one in find_references(inner)]
    elif isinstance(value, list):
        found = [one for inner in value for one in find_references(inner)]
    else:
        found = []
    return list(dict.fromkeys(found))


def resolve(value: Any, outputs: Mapping[str, JSON]) -> Any:
    """Return the value with each reference replaced by what it names.

    A text that is only a reference becomes the referenced value; within a longer text, a reference
    is replaced by text or JSON. Raise ReferenceMissing, which says what there is instead.
    """
    if isinstance(value, str):
        whole = WHOLE.fullmatch(value.strip())
        return _look_up(whole, outputs) if whole else resolve_text(value, outputs)
    if isinstance(value, Mapping):
        return {key: resolve(inner, outputs) for key, inner in value.items()}
    if isinstance(value, list):
        return [resolve(inner, outputs) for inner in value]
    return value


def resolve_text(text: str, outputs: Mapping[str, JSON]) -> str:
    """Return the text with each reference replaced by text or JSON, also a text that is only one.

    Raise ReferenceMissing.
    """
    pieces, end = [], 0
    for match in _matches(text):
        value = _look_up(match, outputs)
        written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        pieces += [text[end : match.start()], written]
        end = match.end()
    return "".join([*pieces, text[end:]])


def _matches(text: str) -> list[re.Match[str]]:
    found = _WITHIN.finditer(text)
    return [m for m in found if not m.start() or not _ADDRESS.match(text[m.start() - 1])]


def _look_up(match: re.Match[str], outputs: Mapping[str, JSON]) -> Any:
    temp_id, written = match[1], match[0]
    value: Any = outputs.get(temp_id)
    if value is None:
        raise ReferenceMissing(f"{written}: the task {temp_id} has no output.")
    for part in match[2].split(".")[1:]:
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and _is_place(part, value):
            value = value[int(part)]
        else:
            raise ReferenceMissing(f"{written}: {temp_id} has no `{part}` there; {_there(value)}.")
    return value


def _is_place(part: str, value: Sequence[Any]) -> bool:
    """Return whether a list has this place; Python refuses to read numbers of many digits."""
    return part.isdecimal() and len(part) <= len(str(len(value))) and int(part) < len(value)


def _there(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"there is {', '.join(map(str, value)) or 'nothing'}"[:500]
    if isinstance(value, list):
        return f"it is a list of {len(value)}"
    return "it is a single value"
