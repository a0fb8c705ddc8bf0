"""What becomes of rows of the older system, and how their values and messages are read."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.imports.model import Attachment, Call, Result, Text, Thinking
from backend.legacy.file import open_copy
from backend.legacy.messages import read_messages
from backend.legacy.plan import Outcome, Plan, Reason, make_plans
from backend.legacy.rows import read_rows
from backend.legacy.store import Store
from backend.legacy.values import read_text, read_time
from tests.samples.legacy import SCHEMA, SECOND, Sample, asked_a_tool, said

NOW = datetime(2026, 11, 28, tzinfo=UTC)
MADE = datetime.fromtimestamp(SECOND, UTC)


def plans_of(path: Path) -> dict[str, Plan]:
    with open_copy(path) as file:
        rows = list(read_rows(file.connection, NOW, []))
        return {plan.row.id: plan for plan in make_plans(rows, Store(file.connection))}


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (SECOND, MADE),
        (SECOND * 1000, MADE),
        (SECOND * 1_000_000, MADE),
        (float(SECOND), MADE),
        (str(SECOND * 1000).encode(), MADE),
        (b"2025-01-01T02:53:20.000Z", MADE),
        (b"2025-01-01 02:53:20", MADE),
        (b"2025-01-01T03:53:20+01:00", MADE),
        (0, None),
        (-1, None),
        (None, None),
        (b"", None),
        (b"yesterday", None),
        (float("inf"), None),
        (10**30, None),
        ((NOW + timedelta(days=2)).timestamp(), None),
    ],
)
def test_times_are_read_in_any_unit(value: Any, meant: datetime | None) -> None:
    assert read_time(value, NOW) == meant


def test_bytes_that_are_no_utf8_are_replaced_and_said() -> None:
    assert read_text(b"caf\xc3\xa9") == ("café", False)
    assert read_text(b"caf\xe9") == ("caf\ufffd", True)


def test_each_row_gets_what_its_session_id_names(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.image("img_1", "sess_1", messages=said("Hello"))
    sample.image("img_2", "sess_2", domain="d2")
    sample.put("messages:sess_alone", said("Hello"))
    sample.row("right", "img_1")
    sample.row("absent", " IMG_9 ", domain="d9")
    sample.row("bound", "sess_2", domain="d2")
    sample.row("alone", "sess_alone")
    sample.row("gone", "agent_1", domain="d3")
    sample.row("null", None)
    sample.row("blank", "  ")
    sample.row("other", "conv_1")
    sample.row("number", 12)

    plans = plans_of(sample.done())

    found = {id: (p.outcome, p.reason, p.image_id, p.history) for id, p in plans.items()}
    assert found == {
        "right": (Outcome.KEPT, Reason.IMAGE, "img_1", "sess_1"),
        "absent": (Outcome.KEPT, Reason.IMAGE, "IMG_9", ""),
        "bound": (Outcome.BOUND, Reason.SESSION, "img_2", "sess_2"),
        "alone": (Outcome.RECREATED, Reason.SESSION_ALONE, "", "sess_alone"),
        "gone": (Outcome.RECREATED, Reason.AGENT, "", ""),
        "null": (Outcome.REPORTED, Reason.NOTHING, "", ""),
        "blank": (Outcome.REPORTED, Reason.NOTHING, "", ""),
        "other": (Outcome.REPORTED, Reason.OTHER, "", ""),
        "number": (Outcome.REPORTED, Reason.OTHER, "", ""),
    }
    assert plans["absent"].row.notes == ["Blanks around its session_id were ignored."]


def test_rows_of_one_image_are_found_however_they_name_it(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.image("img_1", "sess_1", messages=said("Hello"))
    sample.image("img_late", "sess_late", at=(SECOND + 60) * 1000)
    sample.row("by image", "img_1")
    sample.row("by session", "sess_1")
    sample.row("by agent", "agent_1")  # the older system ran it on the first image of its domain
    sample.row("before it", "agent_2", at=SECOND - 3600)
    sample.row("its own", "img_late")

    plans = plans_of(sample.done())

    assert {id: plan.shares_with for id, plan in plans.items()} == {
        "by image": 2, "by session": 2, "by agent": 2, "before it": 0, "its own": 0,
    }  # fmt: skip
    assert plans["by agent"].history == "sess_1"
    assert plans["by agent"].image_id == ""  # its configuration is that of its domain today
    assert plans["by agent"].notes == [
        "Its messages are those of img_1, the first image of its domain: a guess."
    ]
    assert plans["before it"].history == ""


def test_a_session_that_is_bound_twice_is_said(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.image("img_2", "sess_1", at=2_000)
    sample.connection.execute("DELETE FROM unstorage WHERE key = 'sessions:sess_1'")
    sample.image("img_1", "sess_1", at=1_000)
    sample.row("c1", "sess_1")

    plan = plans_of(sample.done())["c1"]

    assert (plan.image_id, plan.notes) == (
        "img_1",
        ["Its session is bound to 1 more image; the oldest was taken."],
    )


def test_rows_that_are_equal_in_everything_are_taken_once(tmp_path: Path) -> None:
    schema = SCHEMA.replace("id TEXT PRIMARY KEY, domain_id", "id TEXT, domain_id")
    sample = Sample(tmp_path / "old.sqlite", schema)
    for title in ("one", "one", "two"):
        sample.row("same", "img_1", title=title)

    with open_copy(sample.done()) as file:
        plans = make_plans(list(read_rows(file.connection, NOW, [])), Store(file.connection))

    assert [plan.reason for plan in plans] == [Reason.IMAGE, Reason.TWIN, Reason.IMAGE]
    assert plans[1].outcome is Outcome.REPORTED
    assert plans[2].row.notes == ["Its id is that of row 1, but for case and blanks."]
    assert [plan.shares_with for plan in plans] == [1, 0, 1]


def test_broken_and_alike_rows_are_all_read_and_said(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.row("same", "img_1")
    sample.row(" SAME ", "img_1", at="never")
    sample.connection.execute(
        "INSERT INTO conversations SELECT CAST(x'ff6964' AS TEXT), domain_id,"
        " CAST(x'636166e9' AS TEXT), session_id, NULL, NULL FROM conversations LIMIT 1"
    )

    plans = plans_of(sample.done())

    assert list(plans) == ["same", " SAME ", "\ufffdid"]
    assert [plan.outcome for plan in plans.values()] == [Outcome.KEPT] * 3
    assert plans[" SAME "].row.notes == [
        "Its created_at is no time: 'never'.",
        "Its updated_at is no time: 'never'.",
        "Its id is that of row 1, but for case and blanks.",
    ]
    assert plans["\ufffdid"].row.notes == [
        "Its id has bytes that are no UTF-8; they show as �.",
        "Its title has bytes that are no UTF-8; they show as �.",
    ]
    assert plans["\ufffdid"].row.title == "caf\ufffd"


def test_messages_with_calls_are_read_as_agentx_writes_them() -> None:
    notes: list[str] = []

    read = read_messages(asked_a_tool({"type": "json", "value": {"sum": 3}}), NOW, notes)

    assert [message.role for message in read] == ["user", "assistant", "tool", "assistant"]
    assert [message.parts for message in read] == [
        [Text("How much?")],
        [Call("call_1", "ledger", {"year": 2024})],
        [Result("call_1", "ledger", '{"sum": 3}')],
        [Text("This much.")],
    ]
    assert [message.parent_id for message in read] == [None, "1", "2", "3"]
    assert read[0].created_at == MADE
    assert notes == []


@pytest.mark.parametrize(
    ("output", "text", "is_error"),
    [
        ({"type": "text", "value": "3"}, "3", False),
        ({"type": "error-text", "value": "no ledger"}, "no ledger", True),
        ({"type": "execution-denied", "reason": "not allowed"}, "not allowed", True),
        ({"type": "content", "value": [{"type": "text", "text": "3"}]}, "3", False),
        ("3", "3", False),
    ],
)
def test_results_of_all_kinds_are_read(output: Any, text: str, is_error: bool) -> None:
    read = read_messages(asked_a_tool(output), NOW, [])

    assert read[2].parts == [Result("call_1", "ledger", text, is_error)]


def test_parts_of_messages_are_read_and_what_is_left_out_is_said() -> None:
    parts = [
        {"type": "thinking", "reasoning": "Hm."},
        {"type": "text", "text": "Look."},
        {"type": "image", "data": "aGk=", "mediaType": "image/png", "name": "a.png"},
        {"type": "file", "data": "https://example.com/b.pdf", "mediaType": "application/pdf"},
        {"type": "hologram"},
    ]
    notes: list[str] = []

    read = read_messages(
        [
            {"role": "assistant", "content": json.dumps(parts)},
            {"role": "error", "content": "Rate limit"},
            {"role": "user", "content": b"caf\xe9"},
            {"role": "oracle", "content": "?"},
            {"role": "user", "content": ""},
            "no message",
            {"role": "assistant", "content": "[1] is a footnote"},
        ],
        NOW,
        notes,
    )

    assert [message.parts for message in read] == [
        [
            Thinking("Hm."),
            Text("Look."),
            Attachment("a.png", "image/png", "data:image/png;base64,aGk="),
            Attachment("file", "application/pdf", None),
        ],
        [Text("**Error:** Rate limit")],
        [Text("caf\ufffd")],
        [Text("[1] is a footnote")],
    ]
    assert notes == [
        "A part of the unknown type 'hologram' was left out.",
        "A message has bytes that are no UTF-8; they show as �.",
        "A message of an unknown role was left out (2 times).",
        "A message without content was left out.",
    ]
