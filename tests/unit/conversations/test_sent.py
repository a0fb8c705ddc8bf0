"""What was sent is recorded by reference and restored exactly, whatever policies did to it."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import SecretStr

from backend.conversations.state.sent import (
    RequestRecords,
    digest_of,
    read_names,
    restore_request,
    write_names,
)
from backend.inspection.convert import as_sent
from backend.llm.chat_model import ColloquyChatModel
from backend.llm.events import ModelCall
from backend.types import JSON
from colloquy_kit.messages.state import load_messages

MODEL = ColloquyChatModel(
    model="gpt-4o", api_key=SecretStr("none"), use_responses_api=False, output_version="v0"
)
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"z": 1, "a": 2}}}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.lists(
    st.one_of(
        st.integers(0, 30),
        st.text(st.sampled_from("AZaz09-_"), min_size=12, max_size=12),
    ),
    max_size=20,
)


@st.composite
def states(draw: st.DrawFn) -> list[JSON]:
    """Messages as they stand in a state: each call is followed by its result."""
    messages: list[JSON] = []
    for number, text in enumerate(draw(st.lists(texts, max_size=8))):
        messages.append({"role": "user", "content": text, "id": f"u{number}"})
        if draw(st.booleans()):
            call_id = draw(st.sampled_from(["c1", "c2"]))
            arguments = draw(st.sampled_from(["{}", '{"b":1, "a":"ü"}', "not json"]))
            function = {"name": "look", "arguments": arguments}
            call = {"id": call_id, "type": "function", "function": function}
            messages.append(
                {
                    "role": "assistant",
                    "content": text or None,
                    "tool_calls": [call],
                    "id": f"a{number}",
                }
            )
            messages.append(
                {
                    "role": "tool",
                    "content": text,
                    "tool_call_id": call_id,
                    "name": "look",
                    "id": f"t{number}",
                }
            )
        messages.append(
            {
                "role": "assistant",
                "content": text,
                "id": f"b{number}",
                "additional_kwargs": {"reasoning_content": "hm"},
            }
        )
    return messages


def edit(draw: st.DrawFn, messages: list[BaseMessage]) -> list[BaseMessage]:
    """What policies may do to a request: leave out, repeat, move, change copies, add."""
    edited: list[BaseMessage] = []
    for message in messages:
        what = draw(st.sampled_from(["keep", "keep", "keep", "drop", "repeat", "change", "add"]))
        if what == "drop":
            continue
        if what == "change":
            message = message.model_copy(update={"content": draw(texts)})
        edited += [message, message] if what == "repeat" else [message]
        if what == "add":
            edited.append(HumanMessage(draw(texts)))
    if draw(st.booleans()):
        edited = draw(st.permutations(edited))
    return edited


def ask(messages: list[BaseMessage], **options: Any) -> ModelCall:
    call = ModelCall("answer", messages, MODEL._get_request_payload(messages, **options))
    with call.under_way():
        pass
    return call


@given(st.data())
def test_any_request_is_given_again(data: st.DataObject) -> None:
    state = data.draw(states())
    objects = load_messages(state)
    stands = {id(message): stored for message, stored in zip(objects, state, strict=True)}
    sent = edit(data.draw, objects)
    if prompt := data.draw(texts):
        sent = [SystemMessage(prompt), *sent]
    options = data.draw(
        st.sampled_from([{}, {"tools": [TOOL]}, {"temperature": 0.5, "seed": 2**70}])
    )
    call = ask(sent, **options)
    # Until the step is saved the state may lose messages and get others.
    dropped = data.draw(st.integers(0, len(state)))
    saved = [{"role": "user", "content": "new", "id": "n"}, *state[dropped:]]
    records = RequestRecords()

    records.add(call, [stands.get(id(message)) for message in sent], saved)

    (record,) = records.calls
    stored = json.loads(json.dumps(record))
    payload, is_proven = restore_request(stored, saved, records.contents, as_sent)
    assert json.dumps(payload) == json.dumps(call.payload)
    assert is_proven


@given(names)
@example([0, 1, 2, "-----------0", 3, 3, 2])
def test_names_are_read_as_they_were_written(given_names: list[int | str]) -> None:
    assert list(read_names(write_names(given_names))) == given_names


def test_what_the_state_holds_costs_no_content() -> None:
    state = [{"role": "user", "content": "long " * 100, "id": str(n)} for n in range(50)]
    records = RequestRecords()

    records.add(ask(load_messages(state)), state, state)

    assert records.calls[0]["m"] == "0-49"
    assert len(records.contents) == 1  # the frame


def test_a_message_that_was_changed_in_place_is_kept_as_it_was_sent() -> None:
    state = [{"role": "user", "content": "as it was said", "id": "u"}]
    (message,) = load_messages(state)
    message.content = "as it was sent"
    records = RequestRecords()

    records.add(call := ask([message]), state, state)

    payload, is_proven = restore_request(records.calls[0], state, records.contents, as_sent)
    assert payload["messages"] == call.payload["messages"]
    assert is_proven


def test_a_request_that_is_not_the_same_is_not_proven() -> None:
    state = [{"role": "user", "content": "hello", "id": "u"}]
    records = RequestRecords()
    records.add(ask(load_messages(state)), state, state)

    other = [{**state[0], "content": "hello!"}]
    payload, is_proven = restore_request(records.calls[0], other, records.contents, as_sent)

    assert payload["messages"][0]["content"] == "hello!"
    assert not is_proven


def test_a_digest_does_not_mind_the_order_of_keys_nor_odd_values() -> None:
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1})
    assert digest_of({"a": 2**70}) != digest_of({"a": 2**70 + 1})
    assert digest_of({"a": "\ud800"}) != digest_of({"a": "\udfff"})
