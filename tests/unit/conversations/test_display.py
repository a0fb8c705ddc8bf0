"""From a message to the rows that people see."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.conversations import display
from backend.conversations.display import PREVIEW_ROWS, assistant_drafts, tool_draft
from backend.types import JSON
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.display import failure, text_of
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from db.session import dump_json

DONE = MessageStatus.COMPLETED


def call(arguments: str, call_id: str = "c") -> JSON:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def table(rows: int) -> JSON:
    return {
        "kind": "table",
        "title": "Budget",
        "columns": [{"name": "n", "type": "integer"}],
        "rows": [[n] for n in range(rows)],
        "row_count": rows,
        "complete": True,
    }


def test_a_message_becomes_thinking_text_and_calls_in_order() -> None:
    message = {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [call("{}", "a"), call('{"x": 1}', "b")],
        "additional_kwargs": {"reasoning_content": "Hm."},
        "response_metadata": {"model_name": "m"},
    }

    drafts = assistant_drafts(message, "Anna", DONE)

    kinds = [draft.content_type for draft in drafts]
    assert kinds == [ContentType.THINKING, ContentType.TEXT, *[ContentType.TOOL_CALL] * 2]
    assert [draft.sequence for draft in drafts] == [0, 1, 2, 3]
    assert [draft.status for draft in drafts] == [DONE, DONE, *[MessageStatus.EXECUTING] * 2]
    assert drafts[3].content == {"call_id": "b", "name": "f", "arguments": {"x": 1}}
    assert {draft.agent for draft in drafts} == {"Anna"}
    assert all(draft.metadata == {"model_name": "m"} for draft in drafts)


@pytest.mark.parametrize("content", ["", None, []])
def test_an_empty_answer_is_told(content: Any) -> None:
    (draft,) = assistant_drafts({"role": "assistant", "content": content}, "Anna", DONE)

    assert draft.content_type is ContentType.NOTICE
    assert draft.content["text"]


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("", {}),
        ("{}", {}),
        ('{"b": 1,  "a": [1.50, null]}', {"b": 1, "a": [1.5, None]}),
        ('{"cut": ', '{"cut": '),
        ("[1]", "[1]"),
        ('{"n": NaN}', '{"n": NaN}'),
    ],
)
def test_arguments_are_values_or_else_their_text(arguments: str, shown: Any) -> None:
    (draft,) = assistant_drafts({"content": None, "tool_calls": [call(arguments)]}, "Anna", DONE)

    assert draft.content["arguments"] == shown


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=4) | st.text())
def test_no_arguments_of_a_model_can_keep_a_row_from_being_stored(arguments: Any) -> None:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    message = clean({"content": "", "tool_calls": [call(text)]})

    (draft,) = assistant_drafts(message, "Anna", DONE)

    stored = json.loads(dump_json(draft.content))
    assert clean(stored) == stored == draft.content


def test_a_result_tells_its_call_and_whether_it_failed() -> None:
    message = {"role": "tool", "tool_call_id": "c", "name": "f", "content": "x", "status": "error"}

    failed = tool_draft(message, None, "Anna")
    fine = tool_draft({**message, "status": "success"}, None, "Anna")

    assert failed.content == {"tool_call_id": "c", "name": "f", "content": "x", "is_error": True}
    assert (failed.status, fine.status) == (MessageStatus.FAILED, DONE)
    assert fine.content["is_error"] is False
    assert failed.message_type is MessageType.TOOL


@pytest.mark.parametrize("rows", [0, 1, PREVIEW_ROWS])
def test_a_small_table_is_in_its_row(rows: int) -> None:
    draft = tool_draft({"content": "excerpt"}, table(rows), "Anna")

    assert draft.metadata["table"]["rows"] == table(rows)["rows"]
    assert draft.metadata["table"]["row_count"] == rows
    assert draft.result is None


def test_a_large_table_is_kept_apart_and_shown_by_its_first_rows() -> None:
    whole = table(PREVIEW_ROWS + 1)

    draft = tool_draft({"content": "excerpt"}, whole, "Anna")

    assert draft.result == whole
    assert draft.metadata["table"]["rows"] == whole["rows"][:PREVIEW_ROWS]
    assert draft.metadata["table"]["row_count"] == PREVIEW_ROWS + 1
    assert "kind" not in draft.metadata["table"]


@pytest.mark.parametrize("artifact", [None, {}, {"kind": "structured", "content": {"a": 1}}])
def test_what_is_no_table_is_shown_as_text_only(artifact: JSON | None) -> None:
    draft = tool_draft({"content": "said"}, artifact, "Anna")

    assert (draft.metadata, draft.result) == ({}, None)
    assert draft.content["content"] == "said"


def test_text_is_found_in_blocks_too() -> None:
    blocks = [{"type": "text", "text": "one "}, "two", {"type": "image_url"}]

    assert text_of({"content": blocks}) == "one two"
    assert text_of({}) == ""


def test_an_error_says_what_and_why() -> None:
    draft = failure("Model unavailable", "Press Retry.")

    assert draft.content == {"title": "Model unavailable", "detail": "Press Retry."}
    assert (draft.content_type, draft.status) == (ContentType.ERROR, MessageStatus.FAILED)


def test_answer_that_was_cut_short_says_why() -> None:
    message = {
        "role": "assistant",
        "content": "as far as I",
        "response_metadata": {"finish_reason": "length"},
    }

    rows = display.assistant_drafts(message, "assistant", MessageStatus.COMPLETED)

    assert [row.content_type for row in rows] == ["text", "notice"]
    assert "limit of length" in rows[1].content["text"]


@pytest.mark.parametrize("text", ["Here it is.", ""])
def test_parts_of_an_answer_that_are_not_shown_are_named(text: str) -> None:
    message = {
        "role": "assistant",
        "content": text,
        "response_metadata": {"finish_reason": "stop", "unshown": ["audio", "images"]},
    }

    rows = display.assistant_drafts(message, "assistant", MessageStatus.COMPLETED)

    assert [row.content_type for row in rows] == (["text"] if text else []) + ["notice"]
    assert "audio and images" in rows[-1].content["text"]


def test_unknown_outcome_is_told_beside_its_result() -> None:
    result = {
        "role": "tool",
        "name": "send",
        "content": "Outcome unknown",
        "tool_call_id": "call_1",
        "additional_kwargs": {"outcome": "unknown"},
    }

    rows = display.tool_drafts(result, None, "assistant")

    assert [row.content_type for row in rows] == ["tool_result", "notice"]
    assert "send" in rows[1].content["text"]


def test_sources_stand_with_the_text_and_a_row_before_it_says_nothing_of_them():
    told = {"sources": [{"url": "https://a.example"}], "executed_tools": [{"name": "search"}]}
    message = {
        "role": "assistant",
        "content": "Yes.",
        "additional_kwargs": {"reasoning_content": "Hm."},
        "response_metadata": {"finish_reason": "stop", "model_name": "m", **told},
    }

    thinking, text = display.assistant_drafts(message, "a", MessageStatus.COMPLETED)

    assert thinking.metadata == {"model_name": "m"}
    assert text.metadata == {"model_name": "m", **told}


@pytest.mark.parametrize("text", ["Yes.", ""])
def test_one_row_of_a_message_has_the_tokens_of_its_call(text: str) -> None:
    usage = {
        "input_tokens": 120, "output_tokens": 30, "total_tokens": 150,
        "input_token_details": {"cache_read": 100}, "output_token_details": {"reasoning": 20},
    }  # fmt: skip
    message = {
        "role": "assistant",
        "content": text,
        "additional_kwargs": {"reasoning_content": "Hm."},
        "tool_calls": [call("{}")],
        "usage_metadata": usage,
    }

    rows = display.assistant_drafts(message, "a", MessageStatus.COMPLETED)

    (row,) = [row for row in rows if "usage" in row.metadata]
    assert row.content_type == ("text" if text else "thinking")
    assert row.metadata["usage"] == {
        "input_tokens": 120, "cached_tokens": 100, "output_tokens": 30, "reasoning_tokens": 20,
    }  # fmt: skip


def test_what_was_too_much_to_be_kept_is_said():
    told = {"finish_reason": "stop", "not_kept": "600,000 of 500,000"}
    message = {"role": "assistant", "content": "Yes.", "response_metadata": told}

    *_, notice = display.assistant_drafts(message, "a", MessageStatus.COMPLETED)

    assert "600,000 of 500,000 characters" in notice.content["text"]
