from backend.conversations.state.shown import MARK, pack_delta, positions_in, text_of_row, unpack
from tests.unit.conversations.display_rows import row

LONG = "a text that is long enough to be stored in one place only, once and for all. " * 2


def texts(*rows):
    return {each.position: text_of_row(each.content) for each in rows}


def test_shown_text_is_stored_as_the_position_of_its_row():
    message = {"role": "assistant", "content": LONG, "id": "a"}

    delta = pack_delta({"append": [message]}, [row(7, {"text": LONG})])

    assert delta == {"append": [{"role": "assistant", "content": {MARK: 7}, "id": "a"}]}
    assert message["content"] == LONG


def test_thinking_and_tool_results_are_named_and_come_back():
    rows = [row(3, {"text": LONG + "thought"}), row(4, {"content": LONG, "name": "t"})]
    messages = [
        {
            "role": "assistant",
            "content": "short",
            "additional_kwargs": {"reasoning_content": LONG + "thought", "refusal": True},
        },
        {"role": "tool", "content": LONG, "tool_call_id": "c"},
    ]

    packed = pack_delta({"append": messages}, rows)["append"]

    assert positions_in(packed) == [3, 4]
    assert unpack(packed, texts(*rows)) == messages


def test_what_is_not_shown_word_for_word_stays_in_the_delta():
    messages = [
        {"role": "user", "content": "short"},
        {"role": "user", "content": LONG + "!"},
        {"role": "user", "content": [{"type": "text", "text": LONG}]},
        {"role": "assistant", "content": None},
    ]
    delta = {"drop": 2, "append": messages, "set": {"todos": [LONG]}}

    assert pack_delta(delta, [row(1, {"text": LONG}), row(2, {"text": "short"})]) == delta
    assert unpack(messages, {}) == messages
