"""Values as SQLite holds them: bytes for texts, numbers of any kind for times. Pure."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from backend.types import JSON

LONGEST_JSON = 64 << 20  # bytes of one value
# Until which number a time counts seconds, milliseconds, microseconds; each up to the year 5138.
_UNITS = ((1e11, 1), (1e14, 1_000), (1e17, 1_000_000))
_INNER = ("config", "data", "record", "value", "message", "payload")
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # no conversation with a model is older


class Unreadable(Exception):
    """A value that is no JSON, or too long; its words say which."""


def read_text(value: Any) -> tuple[str, bool]:
    """Return a value as text, and whether bytes of it were no UTF-8 and had to be replaced."""
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
        return text, text.encode() != value
    return "" if value is None else str(value), False


def read_time(value: Any, now: datetime) -> datetime | None:
    """Return a time in seconds, milliseconds or microseconds, or in ISO's form; None: it is none.

    Times before this century, or more than a day ahead, are none either.
    """
    text = read_text(value)[0].strip() if isinstance(value, bytes | str) else ""
    try:
        number = float(text or value)
        unit = next(unit for below, unit in _UNITS if number < below)
        found = datetime.fromtimestamp(number / unit, UTC)
    except (ValueError, TypeError, OverflowError, OSError, StopIteration):
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)  # SQLite's CURRENT_TIMESTAMP
    return found if _EARLIEST <= found <= now + timedelta(days=1) else None


def read_json(value: Any) -> Any:
    """Return what a JSON text holds. Raise Unreadable."""
    if isinstance(value, bytes | str) and len(value) > LONGEST_JSON:
        raise Unreadable(f"it is longer than {LONGEST_JSON >> 20} MiB")
    try:
        return json.loads(read_text(value)[0])
    except (ValueError, RecursionError):
        raise Unreadable("it is no JSON") from None


def as_record(row: Mapping[str, Any]) -> JSON:
    """Return a row, or an object, by names without case and underscores: `imageId` as `imageid`.

    What is in a value of JSON (_INNER) counts where the record itself says nothing of that name.
    """
    given = {_name(key): value for key, value in row.items()}
    for column in _INNER:
        inner = _object(given.get(column))
        given = {**{_name(key): value for key, value in inner.items()}, **_said(given)}
    return given


def id_in(record: Mapping[str, Any], kind: str) -> str:
    """Return the id of a record of this kind; empty: it has none."""
    return read_text(record.get(f"{kind}id") or record.get("id"))[0].strip()


def _said(record: Mapping[str, Any]) -> JSON:
    return {key: value for key, value in record.items() if value is not None}


def _name(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _object(value: Any) -> JSON:
    if isinstance(value, bytes | str):
        try:
            value = read_json(value)
        except Unreadable:
            return {}
    return value if isinstance(value, dict) else {}
