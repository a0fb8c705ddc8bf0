"""Values as SQLite holds them: bytes for texts, numbers of any kind for times. Pure."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from backend.imports.values import moment
from backend.types import JSON

LONGEST_JSON = 64 << 20  # bytes of one value
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
    """Return a time, in one of the forms of `moment`; None: it is none.

    Times before this century, or more than a day ahead, are none either.
    """
    found = moment(read_text(value)[0].strip() if isinstance(value, bytes | str) else value)
    is_likely = found is not None and _EARLIEST <= found <= now + timedelta(days=1)
    return found if is_likely else None


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
        inner = as_object(given.get(column))
        given = {**{_name(key): value for key, value in inner.items()}, **_said(given)}
    return given


def id_in(record: Mapping[str, Any], kind: str) -> str:
    """Return the id of a record of this kind; empty: it has none."""
    return read_text(record.get(f"{kind}id") or record.get("id"))[0].strip()


def _said(record: Mapping[str, Any]) -> JSON:
    return {key: value for key, value in record.items() if value is not None}


def _name(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def as_object(value: Any) -> JSON:
    """Return an object, also one that is written as JSON; an empty one for all else."""
    if isinstance(value, bytes | str):
        try:
            value = read_json(value)
        except Unreadable:
            return {}
    return value if isinstance(value, dict) else {}
