"""A call's arguments become fields and arguments again, and its expiry is put in words."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.ui.fakes.approvals import MAIL
from ui.features.approvals.fields import JSON_FIELD, fields_of, read_fields, read_json
from ui.features.approvals.view import ApprovalView, expiry_words, expiry_words_hold

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (timedelta(seconds=20), "expires within a minute"),
        (timedelta(minutes=12, seconds=5), "expires in 12 min"),
        (timedelta(hours=3, minutes=50), "expires in 3 h"),
        (timedelta(days=5), "expires in 5 days"),
    ],
)
def test_expiry_in_words(left, said):
    assert expiry_words(NOW + left, NOW) == said


@pytest.mark.parametrize("minutes", [0, 1, 59, 60, 61, 47 * 60, 48 * 60, 49 * 60, 9000])
def test_expiry_is_said_anew_when_its_words_change(minutes):
    expires_at = NOW + timedelta(minutes=minutes, seconds=20)
    held = expiry_words_hold(expires_at, NOW)

    before = NOW + timedelta(seconds=held - 2)
    assert expiry_words(expires_at, before) == expiry_words(expires_at, NOW)
    if minutes:
        later = NOW + timedelta(seconds=held)
        assert expiry_words(expires_at, later) != expiry_words(expires_at, NOW)


def asked(arguments, schema=MAIL):
    return ApprovalView(uuid4(), "t", "", arguments, "", (), schema, None, None)


def schema_of(**properties):
    return {"type": "object", "properties": properties}


NULLABLE = {"anyOf": [{"type": "integer"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (MAIL, {"to": "a\nb"}),
        (MAIL, {"to": "", "amount": 2**70}),
        (schema_of(x={"type": "number"}), {"x": 1.0}),
        (schema_of(x={"type": "boolean"}), {"x": False}),
        (schema_of(x={"type": "boolean"}), {}),
        (schema_of(x={"enum": ["a", "b"]}), {"x": "b"}),
        (schema_of(x=NULLABLE), {"x": None}),
        (schema_of(x=NULLABLE), {}),
    ],
)
def test_fields_that_nobody_touched_give_the_same_arguments(schema, arguments):
    fields = fields_of(asked(arguments, schema))

    read, errors = read_fields(fields, {field.name: field.text for field in fields})

    assert (read, errors) == (arguments, {})
    assert [type(one) for one in read.values()] == [type(one) for one in arguments.values()]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"type": "object"}, {"x": 1}),
        (schema_of(x={"type": "array"}), {"x": [1]}),
        (schema_of(x={"type": "string"}), {"x": 5}),
        (schema_of(x={"type": "string"}), {"y": "more"}),
        (schema_of(x={"type": "integer"}), {"x": True}),
        (schema_of(x={"enum": ["a"]}), {"x": "b"}),
        (schema_of(x=True), {"x": 1}),
    ],
)
def test_what_is_not_simple_has_no_fields(schema, arguments):
    assert fields_of(asked(arguments, schema)) is None


def test_written_fields_become_arguments_of_their_kind():
    schema = schema_of(
        n={"type": "number"}, i={"type": "integer"}, b={"type": "boolean"}, s={"type": "string"}
    )
    fields = fields_of(asked({"s": "was"}, schema))

    read, errors = read_fields(fields, {"n": "1.5", "i": "7", "b": "true", "s": ""})

    assert (read, errors) == ({"n": 1.5, "i": 7, "b": True}, {})


@pytest.mark.parametrize("text", ["[1]", "{", '{"x": NaN}', "", "[" * 100_000])
def test_json_that_is_no_object_of_arguments_is_refused(text):
    assert JSON_FIELD in read_json(text)[1]
