"""Reading the values of foreign JSON, where anything can stand in any place."""

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from backend.imports.json_stream import TooLong, Unreadable, items
from backend.imports.model import Skipped
from backend.imports.upload import Entry, Upload
from backend.text import first_of, name_line
from backend.types import JSON
from colloquy_kit.messages.clean import clean_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_SECOND = 1e10  # in 2286; what is larger counts smaller units
_LONGEST_NAME = 200
_MOST_NOTES = 40
_LOOKED_AT = 100  # files, to recognise a format


class Notes:
    """What was cut, skipped or guessed in a conversation; a sentence that recurs is counted."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()

    def say(self, sentence: str) -> None:
        """Add a sentence."""
        if sentence in self._times or len(self._times) < _MOST_NOTES:
            self._times[sentence] += 1
        else:
            self._times["There is more to note, of other kinds."] += 1

    def sentences(self) -> list[str]:
        """Return the sentences, those that recur with how often."""
        return [
            said if times == 1 else f"{said.removesuffix('.')} ({times:,} times)."
            for said, times in self._times.items()
        ]


def text(value: Any) -> str:
    """Return a text as it can be stored; a number as text, an empty text for all else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    try:
        return clean_text(str(value))
    except ValueError:  # an integer of thousands of digits
        return ""


def name(value: Any) -> str:
    """Return a name: one line, of a bounded length."""
    return name_line(text(value)[: 10 * _LONGEST_NAME])[:_LONGEST_NAME]


def identifier(value: Any) -> str | None:
    """Return an id; numbers are ids, too. A long one is shortened to its digest."""
    found = text(value)
    if len(found) > _LONGEST_NAME:
        return hashlib.sha256(found.encode()).hexdigest()
    return found or None


def mapping(value: Any) -> JSON:
    """Return an object; an empty one for all else."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """Return an array; an empty one for all else."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[JSON]:
    """Return the objects of an array."""
    return [item for item in sequence(value) if isinstance(item, dict)]


def moment(value: Any) -> datetime | None:
    """Return a time: ISO 8601, without a zone in UTC, or a number since 1970.

    A number counts seconds, milli-, micro- or nanoseconds, whichever gives a time in this era.
    None: it is no time.
    """
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return _iso(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    for unit in (1, 10**3, 10**6, 10**9):
        if 0 < value < _LATEST_SECOND * unit:
            return _EPOCH + timedelta(seconds=value / unit)
    return None


def _iso(value: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(value[:40])
        if found.tzinfo is None:
            return found.replace(tzinfo=UTC)
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def arguments(value: Any) -> Any:
    """Return a call's arguments: the object, also if it is written as JSON; else the text."""
    for _ in range(2):  # JSON in JSON occurs
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return clean_text(value)
    return value if isinstance(value, dict | list) else text(value) or {}


def written(value: Any) -> str:
    """Return a text; of an object or an array its JSON, and nothing for null."""
    if isinstance(value, dict | list):
        try:
            return clean_text(json.dumps(value, ensure_ascii=False, default=str))
        except (ValueError, RecursionError):
            return ""
    return text(value)


def digest(value: Any) -> str:
    """Return an id for what has none: the same one whenever it is imported."""
    return hashlib.sha256(written(value).encode()).hexdigest()


def data_url(content: str, media_type: str = "text/plain") -> str:
    """Return an address that holds a text."""
    coded = base64.b64encode(clean_text(content).encode()).decode()
    return f"data:{media_type};base64,{coded}"


def first_text(value: Mapping[str, Any], *keys: str) -> str:
    """Return the text of the first of the keys that has one."""
    return next((found for key in keys if (found := text(value.get(key)))), "")


def has_some(upload: Upload, begins: Callable[[Entry, bytes], bool]) -> bool:
    """Return whether a JSON file of the upload begins so; the first ones are looked at."""
    return any(begins(entry, head) for entry, head in islice(_json_entries(upload), _LOOKED_AT))


def entries_of(
    upload: Upload, begins: Callable[[Entry, bytes], bool], used: Collection[str] = ()
) -> Iterator[Entry]:
    """Yield the JSON files that begin so; the upload's notes name others, except for `used`."""
    others: list[str] = []
    for entry, head in _json_entries(upload):
        if begins(entry, head):
            yield entry
        elif entry.base not in used:
            others.append(entry.name[:_LONGEST_NAME])
    if others:
        upload.notes.append(f"Left out, because they have no conversations: {first_of(others, 5)}.")


def _json_entries(upload: Upload) -> Iterator[tuple[Entry, bytes]]:
    found = [entry for entry in upload.entries if entry.base.lower().endswith(".json")]
    if not found and not upload.is_archive:
        found = upload.entries  # a single file, whatever it is called
    for entry in found:
        yield entry, upload.head(entry.name).removeprefix(b"\xef\xbb\xbf").lstrip()


def objects_of(upload: Upload, entry: Entry) -> Iterator[JSON | Skipped]:
    """Yield the objects that a JSON file holds; in place of what is none, a Skipped."""
    for number, item in enumerate(items(upload, entry.name), 1):
        if isinstance(item, TooLong | Unreadable):
            yield Skipped(f"{entry.base}, entry {number}", "", item.reason)
        elif not isinstance(item, dict):
            yield Skipped(f"{entry.base}, entry {number}", "", "It is no object.")
        else:
            yield item
