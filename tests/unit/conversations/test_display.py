"""From a message to the rows that people see."""

import pytest

from backend.conversations import display
from backend.conversations.display import PREVIEW_ROWS, tool_draft
from backend.types import JSON
from colloquy_kit.messages.kinds import MessageStatus, MessageType

DONE = MessageStatus.COMPLETED


def table(rows: int) -> JSON:
    return {
        "kind": "table",
        "title": "Budget",
        "columns": [{"name": "n", "type": "integer"}],
        "rows": [[n] for n in range(rows)],
        "row_count": rows,
        "complete": True,
    }


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


def test_what_was_too_much_to_be_kept_is_said():
    told = {"finish_reason": "stop", "not_kept": "600,000 of 500,000"}
    message = {"role": "assistant", "content": "Yes.", "response_metadata": told}

    *_, notice = display.assistant_drafts(message, "a", MessageStatus.COMPLETED)

    assert "600,000 of 500,000 characters" in notice.content["text"]
