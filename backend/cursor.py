"""Opaque cursors for keyset pages: a list in one order, and the place after the last row shown."""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from backend.errors.base import InvalidInput
from colloquy_kit.messages.clean import clean_text

_WHAT_TO_DO = "Leave it out to start from the first page."


def encode_cursor(order: str, *place: datetime | UUID | str) -> str:
    """Return the place of a row in an order, given by its sort values, as an opaque string.

    `order` names the list and, if there are several, which of its orders.
    """
    values = [value.isoformat() if isinstance(value, datetime) else str(value) for value in place]
    return urlsafe_b64encode(json.dumps([order, *values]).encode()).decode()


def decode_cursor(cursor: str, order: str, *kinds: Callable[[str], Any]) -> tuple[Any, ...]:
    """Return the place in a cursor of this order, each value as its type.

    Raise InvalidInput if it is malformed or belongs to another order.
    """
    try:
        own, *values = json.loads(b64decode(cursor.encode(), altchars=b"-_", validate=True))
        if own == order:
            return tuple(kind(clean_text(value)) for kind, value in zip(kinds, values, strict=True))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"The cursor is not from this API. {_WHAT_TO_DO}") from error
    raise InvalidInput(f"The cursor belongs to another list or another order. {_WHAT_TO_DO}")


def decode_time_and_id(cursor: str, order: str) -> tuple[datetime, UUID]:
    """Return the place of a row in an order by time and id."""
    at, row_id = decode_cursor(cursor, order, datetime.fromisoformat, UUID)
    return at, row_id
