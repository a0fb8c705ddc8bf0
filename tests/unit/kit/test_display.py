"""From a message to the rows that people see."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.display import assistant_drafts, failure, text_of
from colloquy_kit.messages.kinds import ContentType, MessageStatus
from colloquy_kit.messages.state import dump_message
from colloquy_kit.types import JSON
from db.session import dump_json

DONE = MessageStatus.COMPLETED


def call(arguments: str, call_id: str = "c") -> JSON:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def test_a_message_becomes_thinking_text_and_calls_in_order() -> None:
    message = {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [call("{}", "a"), call('{"x": 1}', "b")],
        "additional_kwargs": {"reasoning_content": "Hm."},
        "response_metadata": {"model_name": "m"},
    }

    drafts = assistant_drafts(message, DONE, "Anna")

    kinds = [draft.content_type for draft in drafts]
    assert kinds == [ContentType.THINKING, ContentType.TEXT, *[ContentType.TOOL_CALL] * 2]
    assert [draft.sequence for draft in drafts] == [0, 1, 2, 3]
    assert [draft.status for draft in drafts] == [DONE, DONE, *[MessageStatus.EXECUTING] * 2]
    assert drafts[3].content == {"call_id": "b", "name": "f", "arguments": {"x": 1}}
    assert {draft.agent for draft in drafts} == {"Anna"}
    assert all(draft.metadata == {"model_name": "m"} for draft in drafts)


@pytest.mark.parametrize("content", ["", None, []])
def test_an_empty_answer_is_told(content: Any) -> None:
    (draft,) = assistant_drafts({"role": "assistant", "content": content}, DONE)

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
    (draft,) = assistant_drafts({"content": None, "tool_calls": [call(arguments)]}, DONE)

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

    (draft,) = assistant_drafts(message, DONE)

    stored = json.loads(dump_json(draft.content))
    assert clean(stored) == stored == draft.content


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

    rows = assistant_drafts(message, DONE)

    assert [row.content_type for row in rows] == ["text", "notice"]
    assert "limit of length" in rows[1].content["text"]


@pytest.mark.parametrize("text", ["Here it is.", ""])
def test_parts_of_an_answer_that_are_not_shown_are_named(text: str) -> None:
    message = {
        "role": "assistant",
        "content": text,
        "response_metadata": {"finish_reason": "stop", "unshown": ["audio", "images"]},
    }

    rows = assistant_drafts(message, DONE)

    assert [row.content_type for row in rows] == (["text"] if text else []) + ["notice"]
    assert "audio and images" in rows[-1].content["text"]


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

    rows = assistant_drafts(message, DONE)

    (row,) = [row for row in rows if "usage" in row.metadata]
    assert row.content_type == ("text" if text else "thinking")
    assert row.metadata["usage"] == {
        "input_tokens": 120, "cached_tokens": 100, "output_tokens": 30, "reasoning_tokens": 20,
    }  # fmt: skip


THOUGHTS = [
    {"type": "thinking", "thinking": "Hm.", "signature": "x"},
    {"type": "reasoning", "reasoning": "Hm."},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
]


@pytest.mark.parametrize("thought", THOUGHTS)
def test_blocks_of_any_provider_become_thinking_and_text(thought: JSON) -> None:
    called = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    message = AIMessage(
        content=[thought, {"type": "text", "text": "Let me look."}, called],
        tool_calls=[{"name": "f", "args": {}, "id": "c"}],
    )

    drafts = assistant_drafts(dump_message(message))

    assert [draft.content_type for draft in drafts] == ["thinking", "text", "tool_call"]
    assert [draft.content.get("text") for draft in drafts[:2]] == ["Hm.", "Let me look."]


def test_blocks_that_no_row_shows_are_named() -> None:
    message = AIMessage(content=["See: ", {"type": "image", "base64": "…"}, {"type": "audio"}])

    said, notice = assistant_drafts(dump_message(message))

    assert said.content == {"text": "See: "}
    assert "audio and image" in notice.content["text"]


def test_thoughts_that_a_provider_keeps_secret_make_no_row_of_thinking() -> None:
    secret = {"type": "redacted_thinking", "data": "x"}
    message = AIMessage(content=[secret, {"type": "text", "text": "Yes."}])

    (said,) = assistant_drafts(dump_message(message))

    assert said.content == {"text": "Yes."}
