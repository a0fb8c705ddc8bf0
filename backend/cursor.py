"""Opaque cursors for keyset pages: the place after the last row that was given."""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.errors.base import InvalidInput
from backend.text import clean_text


def encode_cursor(*place: datetime | UUID | str) -> str:
    """Write the place of a row, the values that rows are ordered by, as an opaque text."""
    values = [value.isoformat() if isinstance(value, datetime) else str(value) for value in place]
    return urlsafe_b64encode(json.dumps(values).encode()).decode()


def decode_cursor(cursor: str, *kinds: Callable[[str], Any]) -> tuple[Any, ...]:
    """Read a place back, each value as its kind. Raise InvalidInput for a text that is none."""
    try:
        values = json.loads(b64decode(cursor.encode(), altchars=b"-_", validate=True))
        return tuple(kind(clean_text(value)) for kind, value in zip(kinds, values, strict=True))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        message = "The cursor is not one that this API gave; leave it out to start from the first."
        raise InvalidInput(message) from error


def decode_time_and_id(cursor: str) -> tuple[datetime, UUID]:
    """Return the place of a row among those that are ordered by a time, then by their ids."""
    at, row_id = decode_cursor(cursor, datetime.fromisoformat, UUID)
    return at, row_id
