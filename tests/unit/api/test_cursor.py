"""Cursors: what was given is read back, anything else is refused."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.cursor import decode_cursor, decode_time_and_id, encode_cursor
from backend.errors.base import InvalidInput
from colloquy_kit.messages.clean import clean_text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_a_name_is_read_back(name: str) -> None:
    assert decode_cursor(encode_cursor("domains", name), "domains", str) == (name,)


@given(st.datetimes(timezones=st.just(UTC)), st.uuids())
def test_a_time_and_an_id_are_read_back(at: datetime, row_id: UUID) -> None:
    assert decode_time_and_id(encode_cursor("files", at, row_id), "files") == (at, row_id)


@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        decode_time_and_id(text, "files")


def test_a_cursor_of_another_list_is_refused() -> None:
    place = (datetime(2026, 1, 1, tzinfo=UTC), UUID(int=1))
    for cursor in (
        encode_cursor("domains", "finance"),
        encode_cursor("files", "a", "b", "c"),
        encode_cursor("approvals, newest first", *place),
    ):
        for order in ("files", "approvals, oldest first"):
            with pytest.raises(InvalidInput):
                decode_time_and_id(cursor, order)


def test_a_made_up_cursor_holds_nothing_that_cannot_be_asked_for() -> None:
    made_up = encode_cursor("domains", "\x00\ud800")

    assert decode_cursor(made_up, "domains", str) == (clean_text("\x00\ud800"),)
