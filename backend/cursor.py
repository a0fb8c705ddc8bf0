"""Opaque cursors for keyset pages: the place after the last row returned."""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.errors.base import InvalidInput
from backend.text import clean_text


def encode_cursor(*place: datetime | UUID | str) -> str:
    """Return the place of a row, given by its sort values, as an opaque string."""
    values = [value.isoformat() if isinstance(value, datetime) else str(value) for value in place]
    return urlsafe_b64encode(json.dumps(values).encode()).decode()


def decode_cursor(cursor: str, *kinds: Callable[[str], Any]) -> tuple[Any, ...]:
    """Return the place in a cursor, each value as its type. Raise InvalidInput if malformed."""
    try:
        values = json.loads(b64decode(cursor.encode(), altchars=b"-_", validate=True))
        return tuple(kind(clean_text(value)) for kind, value in zip(kinds, values, strict=True))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        message = "The cursor is not from this API. Leave it out to start from the first page."
        raise InvalidInput(message) from error


def decode_time_and_id(cursor: str) -> tuple[datetime, UUID]:
    """Return the place of a row in an order by time and id."""
    at, row_id = decode_cursor(cursor, datetime.fromisoformat, UUID)
    return at, row_id
