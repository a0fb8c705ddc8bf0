"""What endpoints send is read the same however it was cut, and what they want back is bounded."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from backend.errors.models import IncompleteAnswer
from backend.llm.answer import Answer
from backend.llm.failures import FAILURES, explain_failure
from backend.llm.prices import cost_of
from backend.llm.wire.calls import MAX_NAME_CHARS, MAX_WHOLE_PIECES
from backend.llm.wire.deltas import MAX_TOKENS, usage_of
from backend.llm.wire.kept import KEPT, MAX_KEPT_CHARS, NOT_KEPT, give_back, provider_of
from backend.llm.wire.merging import Pieces, merge
from backend.llm.wire.sources import MAX_SOURCES, Sources
from backend.llm.wire.stream import MAX_BODY_BYTES, Decoder, End
from backend.settings import Price
from backend.types import JSON
from colloquy_kit.messages.parts import MAX_PARTS
from tests.recorded_answers import ANSWERS
from tests.recordings import step

CALL = [{"index": 0, "id": "c", "function": {"name": "t", "arguments": "{}"}}]


def decoded(*pieces: bytes) -> list[Any]:
    decoder = Decoder()
    chunks = [chunk for piece in pieces for chunk in decoder.feed(piece)]
    return [*chunks, *decoder.end()]


def cut(body: bytes, size: int) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


@pytest.mark.parametrize("name", ["crlf_bom_no_space", "deepseek_calls", "plain_json_text"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_a_body_is_read_the_same_however_it_is_cut(name: str, size: int) -> None:
    body = step(name)["raw"]

    assert decoded(*cut(body, size)) == decoded(body)
    assert decoded(body)[-1] is End.DONE


def test_what_stands_behind_the_end_is_not_read() -> None:
    assert decoded(b'data: {"a": 1}\n\ndata: [DONE]\n\ndata: nonsense\n\n') == [
        {"a": 1},
        End.DONE,
    ]


def test_a_text_in_several_lines_is_one() -> None:
    assert decoded(b'data: {"a":\ndata: 1}\n\n') == [{"a": 1}]


@pytest.mark.parametrize("body", [b"data: {\n\n", b"{", b"<html>", b"data: \xff\n\n", b'data: {"a'])
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        decoded(body)


@pytest.mark.parametrize("begin", [b"data: ", b""])
def test_what_is_nested_too_deeply_is_an_answer_that_cannot_be_read(begin: bytes) -> None:
    with pytest.raises(FAILURES) as refused:
        decoded(begin + b'{"choices": ' + b"[" * 5_000 + b"]" * 5_000 + b"}\n\n")

    failure = explain_failure(refused.value, "m", Answer())
    assert failure.is_transient
    assert "cannot be read" in failure.error.detail


def test_an_endless_json_text_is_refused() -> None:
    decoder = Decoder()

    with pytest.raises(ValueError, match="too long"):
        for _ in range(MAX_BODY_BYTES // 2**20 + 1):
            list(decoder.feed(b"{" + b"\n" * 2**20))


@pytest.mark.parametrize("body", [b"data: ", b"data: x\n"])
def test_a_line_or_an_event_without_end_is_refused(body: bytes) -> None:
    decoder = Decoder()

    with pytest.raises(ValueError, match="too long"):
        for _ in range(MAX_BODY_BYTES // 2**20 + 1):
            list(decoder.feed(body))
            list(decoder.feed(b"data: " + b"x" * (2**20 - 6) + body[6:]))


@pytest.mark.parametrize("begin", [b"data: ", b" ", b"{", b"data: x\r"])
def test_a_line_without_end_is_not_joined_anew_for_each_piece(begin: bytes) -> None:
    decoder = Decoder()
    assert list(decoder.feed(begin)) == []

    for _ in range(400_000):  # joined each time, these would be copied for minutes
        assert list(decoder.feed(b" " * 20)) == []


def test_a_text_of_too_many_parts_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(ValueError, match="too many parts"):
        decoded(b"data: [" + b"[]," * MAX_PARTS + b"[]]\n\n")


pieces = st.fixed_dictionaries(
    {},
    optional={
        "said": st.text("ab", max_size=3),
        "list": st.lists(
            st.fixed_dictionaries(
                {"index": st.integers(0, 2), "type": st.just("text")},
                optional={"text": st.text("xy", max_size=2)},
            ),
            max_size=2,
        ),
    },
)


@given(st.lists(pieces, max_size=20))
def test_pieces_are_joined_as_one_after_the_other(given_pieces: list[JSON]) -> None:
    gathered, one_by_one = Pieces(), {}
    for piece in given_pieces:
        gathered.add(piece)
        one_by_one = merge(one_by_one, piece)

    assert gathered.joined() == one_by_one


def test_a_name_without_end_is_refused() -> None:
    piece = {"index": 0, "id": "c", "function": {"name": "ab" * 100, "arguments": ""}}
    other = {"index": 0, "function": {"name": "ba", "arguments": ""}}

    with pytest.raises(IncompleteAnswer, match="nothing was run"):
        answer_of({"tool_calls": [piece]}, *[{"tool_calls": [other]}] * MAX_NAME_CHARS)


def answer_of(*deltas: JSON, finish: str = "tool_calls") -> Answer:
    answer = Answer(provider="here")
    for delta in deltas:
        answer.add({"choices": [{"index": 0, "delta": delta}]})
    answer.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return answer


def test_more_than_is_kept_is_dropped_whole_and_said() -> None:
    detail = {"type": "reasoning.encrypted", "data": "x" * MAX_KEPT_CHARS, "index": 0}
    message = answer_of({"reasoning_details": [detail]}, {"tool_calls": CALL}).message()

    assert KEPT not in message.additional_kwargs
    assert "500,000" in message.response_metadata[NOT_KEPT]


def test_long_thinking_is_kept_once_and_is_not_too_much() -> None:
    thinking = "thought " * MAX_KEPT_CHARS
    message = answer_of({"reasoning_content": thinking}, {"tool_calls": CALL}).message()

    kept = message.additional_kwargs[KEPT]
    sent: JSON = {"role": "assistant", "content": None}
    give_back(message, sent, "here")
    assert len(json.dumps(kept)) < 200
    assert sent["reasoning_content"] == thinking


def test_a_text_that_a_policy_has_changed_is_not_sent_as_it_was() -> None:
    message = answer_of({"content": "<think>a</think>secret"}, {"tool_calls": CALL}).message()
    changed = message.model_copy(update={"content": "[removed]"})
    sent: JSON = {"role": "assistant", "content": "[removed]"}

    give_back(changed, sent, "here")

    assert "secret" not in json.dumps(sent)
    give_back(message, sent, "here")
    assert sent["content"] == "<think>a</think>secret"


def test_numbers_and_labels_of_pieces_are_not_kept() -> None:
    delta = {"token_id": 7, "flag": True, "channel": "final", "logprobs": {}, "odd": "kept"}
    message = answer_of({**delta, "content": "a"}, finish="stop").message()

    assert message.additional_kwargs[KEPT]["message"] == {"odd": "kept"}


def test_no_field_of_an_endpoint_replaces_one_of_ours() -> None:
    message = AIMessage(
        "a", additional_kwargs={KEPT: {"for": "p", "message": {"role": "system", "x": 1}}}
    )
    sent: JSON = {"role": "assistant", "content": "a"}

    give_back(message, sent, "p")

    assert sent == {"role": "assistant", "content": "a", "x": 1}


def test_a_provider_is_its_address_and_of_a_gateway_the_maker() -> None:
    direct = provider_of("https://api.deepseek.com/v1", "deepseek-v4-pro")
    gateway = "https://openrouter.ai/api/v1"

    assert direct == provider_of("https://key:secret@api.deepseek.com/v1/", "deepseek-v4-flash")
    assert direct != provider_of("https://api.example.com/v1", "deepseek-v4-pro")
    assert provider_of(gateway, "google/a") == provider_of(gateway, "google/b")
    assert provider_of(gateway, "google/a") != provider_of(gateway, "openai/a")
    assert "deepseek" not in direct


def test_a_name_with_each_of_many_pieces_is_still_one_call() -> None:
    text = json.dumps({"list": list(range(200))})
    functions = [{"name": "t", "arguments": sign} for sign in text]
    deltas = [{"tool_calls": [{"index": 0, "function": function}]} for function in functions]
    message = answer_of(*deltas).message()

    assert len(deltas) > MAX_WHOLE_PIECES
    assert [call["args"] for call in message.tool_calls] == [json.loads(text)]


def test_calls_that_are_numbered_have_their_numbers_as_ids() -> None:
    functions = [{"name": "t", "arguments": "{}"}, {"name": "t", "arguments": '{"a": 1}'}]
    deltas = [
        {"tool_calls": [{"index": n, "id": n, "function": f}]} for n, f in enumerate(functions)
    ]
    message = answer_of(*deltas).message()

    assert [(call["id"], call["args"]) for call in message.tool_calls] == [
        ("0", {}),
        ("1", {"a": 1}),
    ]


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({"prompt_tokens": 3.0, "completion_tokens": 2.5, "total_tokens": 5.5}, (3, 3, 6)),
        ({"prompt_tokens": "3", "completion_tokens": None, "total_tokens": -1}, (3, 0, 3)),
        ({"prompt_tokens": [], "completion_tokens": float("nan")}, (0, 0, 0)),
        ({"prompt_tokens": 1, "prompt_tokens_details": "none", "cached_tokens": {}}, (1, 0, 1)),
        ({"total_tokens": 50}, (50, 0, 50)),
        ({"completion_tokens": 5, "total_tokens": 15}, (10, 5, 15)),
        ({"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 500}, (9, 491, 500)),
        ({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": -1}, (1, 2, 3)),
    ],
)
def test_usage_is_read_as_whole_numbers(told: JSON, tokens: tuple[int, int, int]) -> None:
    used = usage_of(told)

    assert used == dict(zip(("input_tokens", "output_tokens", "total_tokens"), tokens, strict=True))


@pytest.mark.parametrize(
    ("told", "cost"),
    [
        ({"prompt_tokens": 10, "cached_tokens": 1_000, "completion_tokens": 5}, 10 * 1 + 5 * 8),
        ({"prompt_tokens": 10**30, "completion_tokens": 5}, MAX_TOKENS * 2 + 5 * 8),
        ({"prompt_tokens": -10, "completion_tokens": 5}, 5 * 8),
    ],
)
def test_no_usage_makes_an_answer_free_or_priceless(told: JSON, cost: float) -> None:
    used = usage_of(told)

    assert used is not None
    assert cost_of(used, Price(input=2e6, cached=1e6, output=8e6)) == cost


def test_of_very_many_sources_the_rest_is_counted() -> None:
    sources = Sources()
    sources.add({"citations": [f"https://s.example/{n}" for n in range(MAX_SOURCES + 5)]})

    told = sources.told()

    assert len(told["sources"]) == MAX_SOURCES
    assert told["more_sources"] == 5


@pytest.mark.parametrize(
    "told",
    [
        {"citations": [7, None, [], {}, {"url": 7}, ""]},
        {"citations": "https://a.example"},
        {"annotations": [{"type": "url_citation"}, "x"], "executed_tools": ["x", {}]},
        {"executed_tools": [{"search_results": {"results": "x"}}], "context": {"citations": 1}},
    ],
)
def test_odd_sources_break_nothing(told: JSON) -> None:
    sources = Sources()

    sources.add(told)
    sources.add_parts([{"type": "reference"}, {"type": "reference", "reference_ids": 7}, "x"])

    json.dumps(sources.told())


def test_every_recorded_answer_can_be_cut_anywhere() -> None:
    for name in ANSWERS:
        body = step(name)["raw"]
        assert decoded(*cut(body, 5)) == decoded(body), name
