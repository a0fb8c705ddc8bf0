import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from colloquy_kit.errors import CorruptState
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.state import (
    add_partial,
    dump_message,
    empty_state,
    load_messages,
    load_values,
    pending_calls,
    user_message,
)

text = st.text(max_size=20).map(clean)
ids = st.one_of(st.none(), st.text(min_size=1, max_size=8).map(clean))
leaves = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), text)
json_values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3)
)
objects = st.dictionaries(text, json_values, max_size=3)
blocks = st.lists(text.map(lambda t: {"type": "text", "text": t}), max_size=3)
content = st.one_of(text, blocks)
calls = st.lists(st.builds(dict, name=text, args=objects, id=ids), max_size=3)
usage = st.none() | st.builds(
    dict,
    input_tokens=st.integers(0, 9),
    output_tokens=st.integers(0, 9),
    total_tokens=st.integers(0, 18),
)
messages = st.one_of(
    st.builds(HumanMessage, content=content, id=ids, additional_kwargs=objects),
    st.builds(SystemMessage, content=content, id=ids),
    st.builds(AIMessage, content=text, id=ids, tool_calls=calls, usage_metadata=usage),
    st.builds(
        ToolMessage,
        content=content,
        id=ids,
        name=ids,
        tool_call_id=text,
        status=st.sampled_from(["success", "error"]),
    ),
)


def assistant(*calls, content=None):
    return {
        "role": "assistant",
        "content": content,
        "id": "a",
        "tool_calls": [
            {"id": i, "type": "function", "function": {"name": "t", "arguments": arguments}}
            for i, arguments in calls
        ],
    }


def result(call_id):
    return {"role": "tool", "content": "", "id": f"r{call_id}", "tool_call_id": call_id}


@given(messages)
def test_a_message_survives_the_round_trip_through_json(message):
    stored = json.loads(json.dumps(dump_message(message)))

    assert load_messages([stored]) == [message]
    assert dump_message(load_messages([stored])[0]) == stored


@given(objects, st.integers(0, 4))
def test_the_models_own_argument_text_survives(arguments, indent):
    stored = assistant(("c", json.dumps(arguments, indent=indent)))

    assert dump_message(load_messages([stored])[0]) == stored


def test_changed_arguments_are_written_anew():
    (message,) = load_messages([assistant(("c", '{"a":  1}'))])
    message.tool_calls[0]["args"] = {"a": 2}

    assert dump_message(message)["tool_calls"][0]["function"]["arguments"] == '{"a": 2}'


def test_stored_messages_have_the_shape_of_openai():
    message = AIMessage("", tool_calls=[{"name": "t", "args": {"ä": 1}, "id": "c"}])

    assert dump_message(message) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "t", "arguments": '{"ä": 1}'}}
        ],
    }
    assert dump_message(ToolMessage("", tool_call_id="c", artifact={"kind": "table"})) == {
        "role": "tool",
        "content": "",
        "tool_call_id": "c",
    }


def test_other_keys_of_the_state_are_loaded_as_they_are():
    state = {**empty_state(), "todos": [{"content": "x"}], "private": 3}

    assert load_values(state) == {"messages": [], "todos": [{"content": "x"}], "private": 3}


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"version": 99, "messages": []},
        {"version": 1},
        {"version": 1, "messages": [{"role": "alien", "content": ""}]},
        {"version": 1, "messages": [{"role": "user"}]},
        {"version": 1, "messages": [{"role": "tool", "content": ""}]},
    ],
)
def test_an_unreadable_state_says_so(state):
    with pytest.raises(CorruptState):
        load_values(state)


def test_pending_calls_are_those_of_the_last_model_message_only():
    messages = [assistant(("1", "{}")), result("1"), assistant(("1", "{}"), ("2", "{}"))]

    assert [c["id"] for c in pending_calls({"messages": messages})] == ["1", "2"]
    assert [c["id"] for c in pending_calls({"messages": [*messages, result("2")]})] == ["1"]
    assert pending_calls({"messages": [user_message("x", "u")]}) == []


def test_the_partial_answer_of_a_stopped_turn_is_kept_once_and_marked():
    state, message = add_partial(empty_state(), "so far", "hm", "m")

    assert message == state["messages"][0]
    assert message["content"] == "so far"
    assert message["response_metadata"] == {"finish_reason": "stopped"}
    assert add_partial(state, "so far", "hm", "m") == (state, None)
    assert add_partial(empty_state(), " ", "", "m") == (empty_state(), None)


def test_thinking_alone_is_for_people_and_not_for_the_model():
    state, message = add_partial(empty_state(), "", "hm", "m")

    assert state == empty_state()
    assert message["additional_kwargs"] == {"reasoning_content": "hm"}
