"""Opaque cursors for keyset pages: the place after the last row that was given."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from datetime import datetime
from uuid import UUID

from backend.errors import InvalidInput


def encode_cursor(updated_at: datetime, row_id: UUID) -> str:
    """Write the place of a row as an opaque text."""
    return urlsafe_b64encode(f"{updated_at.isoformat()} {row_id}".encode()).decode()


def decode_cursor(cursor: str) -> tuple[datetime, UUID]:
    """Read a place back. Raises InvalidInput for a text that is none."""
    try:
        updated_at, _, row_id = urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        return datetime.fromisoformat(updated_at), UUID(row_id)
    except (Base64Error, ValueError) as error:
        message = "The cursor is not one that this API gave; leave it out to start from the first."
        raise InvalidInput(message) from error
