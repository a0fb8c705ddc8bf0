"""The demo model reads and writes messages as OpenAI does."""

import pytest

from backend.demo_model import wire
from backend.demo_model.conversation import InvalidMessages, read_conversation
from backend.demo_model.reading import figure, money, number, read_rows
from backend.demo_model.rules import reply
from tests.unit.llm.demo_conversations import BUDGET, called, conversation, result, user


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [user("hi"), called(("a", {}))],
        [user("hi"), called(("a", {})), user("there")],
        [user("hi"), called(("a", {}), ("b", {})), result(0, "x")],
        [user("hi"), result(0, "x")],
        [user("hi"), called(("a", {})), result(0, "x"), result(0, "y")],
        [{"role": "wizard", "content": "x"}],
        ["text"],
    ],
)
def test_messages_out_of_order_are_refused_as_openai_does(messages):
    with pytest.raises(InvalidMessages):
        read_conversation({"messages": messages})


def test_a_call_id_may_be_used_again_in_a_later_batch():
    call = ("get_budget", {"cost_centre": "CC-1001"})
    messages = [user("a"), called(call), result(0, BUDGET), user("budget of CC-1001"),
                called(call), result(0, BUDGET.replace("1000.00", "5.00"))]  # fmt: skip

    assert "EUR 5.00" in reply(conversation(*messages)).text


def test_content_in_parts_and_system_messages_are_read():
    parts = {"role": "user", "content": [{"type": "text", "text": "budget of CC-1001"}]}
    system = {"role": "system", "content": "You are Sage."}

    assert reply(conversation(system, parts)).calls


def test_tables_are_read_with_their_escapes():
    text = "T: 1 row.\n\n| a | b |\n| --- | --- |\n| x \\| y | 1.50 |\n"

    assert read_rows(text) == [{"a": "x | y", "b": "1.50"}]
    assert number("") == 0


def test_chunks_add_up_to_the_completion():
    request = {"model": "m", "messages": [user("compare CC-1001 and CC-1002")]}
    whole = wire.make_answer(request, reply(conversation(*request["messages"])), "id", 1)
    arguments: dict[int, str] = {}
    thinking = ""
    for chunk in wire.chunks(whole, include_usage=True):
        delta = chunk["choices"][0]["delta"] if chunk["choices"] else {}
        thinking += delta.get("reasoning_content", "")
        for call in delta.get("tool_calls", []):
            text = arguments.get(call["index"], "") + call["function"]["arguments"]
            arguments[call["index"]] = text

    message = wire.completion(whole)["choices"][0]["message"]
    assert thinking == message["reasoning_content"]
    assert list(arguments.values()) == [
        call["function"]["arguments"] for call in message["tool_calls"]
    ]
    assert chunk["usage"]["total_tokens"] == sum(
        chunk["usage"][name] for name in ("prompt_tokens", "completion_tokens")
    )


def test_half_a_cent_is_rounded_up_as_tables_do():
    assert [figure("2.625"), figure("-2.635"), money("0.125")] == ["2.63", "-2.64", "EUR 0.13"]
