from hypothesis import given
from hypothesis import strategies as st

from colloquy_kit.messages.repair import repair
from colloquy_kit.messages.state import load_messages
from tests.fakes import find_disorder

NOTE = "Stopped before this tool finished."
ids = st.sampled_from([None, "", "1", "2", "1_2"])


def call(call_id):
    return {"id": call_id, "type": "function", "function": {"name": "t", "arguments": "{}"}}


def assistant(*call_ids):
    message = {"role": "assistant", "content": "x"}
    return {**message, "tool_calls": [call(i) for i in call_ids]} if call_ids else message


def result(call_id):
    return {"role": "tool", "content": "r", "tool_call_id": call_id}


USER = {"role": "user", "content": "hello"}
anything = st.lists(
    st.one_of(
        st.just(USER),
        st.lists(ids, max_size=3).map(lambda given: assistant(*given)),
        ids.map(result),
        st.just({**USER, "role": "assistant", "invalid_tool_calls": [{"id": "9"}]}),
    ),
    max_size=12,
)


@given(anything)
def test_any_history_becomes_one_that_a_model_accepts(messages):
    state = {"version": 1, "messages": messages, "todos": [1]}
    repaired, added = repair(state, NOTE)

    assert find_disorder(repaired["messages"]) is None
    assert repaired["todos"] == [1]
    assert all(a["status"] == "error" and a["content"] == NOTE for a in added)
    assert all(any(a is m for m in repaired["messages"]) for a in added)
    assert len(load_messages(repaired["messages"])) == len(repaired["messages"])
    assert [m for m in repaired["messages"] if m["role"] == "user"] == [
        m for m in messages if m["role"] == "user"
    ]


@given(anything)
def test_a_repaired_history_stays_the_same_object(messages):
    repaired, _ = repair({"version": 1, "messages": messages}, NOTE)
    again, added = repair(repaired, NOTE)

    assert again is repaired
    assert added == []


def test_a_valid_history_with_reused_ids_is_not_touched():
    state = {"messages": [USER, assistant("1"), result("1"), assistant("1"), result("1"), USER]}

    assert repair(state, NOTE)[0] is state


def test_unchanged_messages_stay_the_same_objects():
    messages = [USER, assistant("1", "2"), result("2"), USER]
    repaired, (added,) = repair({"messages": messages}, NOTE)

    assert [*repaired["messages"][:3], repaired["messages"][4]] == messages
    assert all(repaired["messages"][i] is messages[i] for i in range(3))
    assert repaired["messages"][3] is added
    assert added["tool_call_id"] == "1"
    assert added["name"] == "t"


def test_results_follow_their_calls_when_ids_are_made_distinct():
    one, two = {**result("1"), "content": "first"}, {**result("1"), "content": "second"}
    repaired, added = repair({"messages": [assistant("1", "1"), one, two]}, NOTE)

    first, second = (call["id"] for call in repaired["messages"][0]["tool_calls"])
    assert added == []
    assert first != second
    assert [(m["tool_call_id"], m["content"]) for m in repaired["messages"][1:]] == [
        (first, "first"),
        (second, "second"),
    ]


def test_results_without_a_call_are_dropped():
    assert repair({"messages": [result("1"), USER, result("2")]}, NOTE)[0]["messages"] == [USER]
