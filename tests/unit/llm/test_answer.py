import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors.models import IncompleteAnswer
from backend.llm.answer import MAX_CALLS, Answer
from backend.llm.wire.deltas import UNSHOWN
from colloquy_kit.messages.arguments import UNREADABLE

any_text = st.text(st.characters(), max_size=12)
clean_text = st.text('ab"\\{[,ü文 \n', max_size=5)
json_object = st.dictionaries(clean_text, st.integers(-9, 9) | clean_text)


def chunk(finish=None, **delta):
    fields = {"content": None, "tool_calls": None, **delta}
    choice = {"delta": fields, "finish_reason": finish}
    return {"choices": [choice], "model": "m", "usage": None}


def piece(index, arguments="", call_id=None, name=None):
    function = {"name": name, "arguments": arguments}
    return [{"index": index, "id": call_id, "function": function}]


def feed(*chunks):
    answer = Answer()
    deltas = [delta for c in chunks for delta in answer.add(c)]
    return answer, deltas


@given(st.lists(any_text), st.lists(any_text))
def test_what_was_shown_is_what_is_kept(texts, thoughts):
    answer, deltas = feed(
        *(chunk(reasoning_content=t) for t in thoughts),
        *(chunk(content=t) for t in texts),
        chunk("stop"),
    )
    message = answer.message()

    assert "".join(d.text for d in deltas) == message.content
    assert "".join(d.thinking for d in deltas) == message.additional_kwargs.get(
        "reasoning_content", ""
    )
    assert all(d.text or d.thinking for d in deltas)
    message.content.encode()
    assert "\x00" not in message.content


def test_blanks_are_no_thinking_but_belong_to_the_thinking_after_them():
    blank, _ = feed(chunk(reasoning_content="\n"), chunk(content="a"), chunk("stop"))
    thinking, deltas = feed(
        *(chunk(reasoning_content=piece) for piece in ("\n", " ", "b\n", "\n")), chunk("stop")
    )

    assert blank.message().additional_kwargs == {}
    assert [delta.thinking for delta in deltas] == ["\n b\n", "\n"]
    assert thinking.message().additional_kwargs["reasoning_content"] == "\n b\n\n"


@given(json_object, st.integers(1, 7), st.integers(0, 3))
def test_arguments_are_whole_however_they_were_cut(arguments, size, indent):
    text = json.dumps(arguments, indent=indent)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    answer, _ = feed(
        chunk(tool_calls=piece(0, call_id="c", name="t")),
        *(chunk(tool_calls=piece(0, part)) for part in pieces),
        chunk("tool_calls"),
    )

    (call,) = answer.message().tool_calls
    assert call["args"] == arguments


@given(json_object.filter(bool), st.data())
def test_arguments_that_broke_off_are_marked_and_not_completed(arguments, data):
    text = json.dumps(arguments)
    end = data.draw(st.integers(1, len(text) - 1))
    answer, _ = feed(
        chunk(tool_calls=piece(0, text[:end], call_id="c", name="t")), chunk("tool_calls")
    )
    message = answer.message()

    assert message.tool_calls[0]["args"] == {UNREADABLE: text[:end]}
    assert message.additional_kwargs[UNREADABLE][0]


def test_a_call_without_a_name_or_an_end_is_refused():
    nameless, _ = feed(chunk(tool_calls=piece(0, "{}", call_id="c")), chunk("tool_calls"))
    endless, _ = feed(chunk(content="text"))

    for answer in (nameless, endless):
        with pytest.raises(IncompleteAnswer):
            answer.message()


def test_calls_without_an_index_are_told_apart_by_their_ids():
    answer, _ = feed(
        chunk(tool_calls=piece(None, '{"a":', call_id="1", name="t")),
        chunk(tool_calls=piece(None, "1}")),
        chunk(tool_calls=piece(None, "", call_id="2", name="t")),
        chunk("tool_calls"),
    )

    assert [(c["id"], c["args"]) for c in answer.message().tool_calls] == [
        ("1", {"a": 1}),
        ("2", {}),
    ]


@pytest.mark.parametrize(
    "pieces",
    [
        [  # several calls at once, without an index
            [*piece(None, '{"a"', "1", "t"), *piece(None, '{"a"', "2", "t")],
            [*piece(None, ": 1}", "1"), *piece(None, ": 2}", "2")],
        ],
        [  # an index with the first piece only
            *(piece(0, '{"a"', "1", "t"), piece(None, ": 1}")),
            *(piece(1, '{"a"', "2", "t"), piece(None, ": 2}")),
        ],
        [  # another index with each piece
            *(piece(0, '{"a"', "1", "t"), piece(1, ": 1}", "1")),
            *(piece(2, '{"a"', "2", "t"), piece(3, ": 2}", "2")),
        ],
        [  # no index for the first call, as writers do that leave out a zero
            [*piece(None, '{"a"', "1", "t"), *piece(1, '{"a"', "2", "t")],
            [*piece(1, ": 2}"), *piece(None, ": 1}")],
        ],
    ],
)
def test_pieces_without_a_usable_index_find_their_calls(pieces):
    answer, _ = feed(*(chunk(tool_calls=calls) for calls in pieces), chunk("tool_calls"))

    calls = [(call["id"], call["args"]) for call in answer.message().tool_calls]
    assert calls == [("1", {"a": 1}), ("2", {"a": 2})]


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning": "Hm."},
        {"content": [{"type": "thinking", "thinking": "Hm."}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]},
        {"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
    ],
)
def test_thinking_is_found_wherever_an_endpoint_puts_it(delta):
    text = chunk(content=[{"type": "text", "text": "Yes."}])
    answer, deltas = feed(chunk(**delta), text, chunk("stop"))

    assert [(d.thinking, d.text) for d in deltas] == [("Hm.", ""), ("", "Yes.")]
    assert answer.message().additional_kwargs == {"reasoning_content": "Hm."}


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_details": {"type": "reasoning.text"}},
        {
            "reasoning_details": [
                "odd",
                {"type": None},
                {"type": "reasoning.encrypted", "data": "x"},
            ]
        },
        {"content": [{"type": "thinking", "thinking": 7}]},
    ],
)
def test_thinking_that_nobody_can_read_is_left_out(delta):
    answer, _ = feed(chunk(**delta), chunk(content="Yes."), chunk("stop"))

    assert answer.message().content == "Yes."
    assert answer.message().additional_kwargs == {}


@pytest.mark.parametrize(
    ("delta", "kinds"),
    [
        ({"content": "a", "images": [{"type": "image_url", "image_url": {}}]}, ["images"]),
        ({"content": "a", "audio": {"data": "AA=="}}, ["audio"]),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}, ["image_url"]),
        ({"content": [{"type": "x" * 99}, {"type": "\x00"}, {}]}, ["x" * 40, "\u2400", "part"]),
        ({"content": "a", "images": [], "audio": None}, []),
        ({"content": [{"type": "thinking", "thinking": "b"}, {"type": "reference"}]}, []),
    ],
)
def test_parts_that_cannot_be_shown_are_named(delta, kinds):
    answer, _ = feed(chunk(**delta), chunk("stop"))

    assert answer.message().response_metadata.get(UNSHOWN, []) == sorted(kinds)
    assert not (kinds and answer.is_empty)


@pytest.mark.parametrize("reason", ["RECITATION", "blocklist", "PROHIBITED_CONTENT", "spii"])
def test_a_provider_that_ends_an_answer_for_its_content_is_understood(reason):
    answer, _ = feed(chunk(content="a"), chunk(reason))

    assert answer.message().response_metadata["finish_reason"] == "content_filter"


def test_an_answer_that_was_cut_stays_so_when_its_end_is_told_again():
    answer, _ = feed(chunk("length", content="half"), chunk("stop"))

    assert answer.message().response_metadata["finish_reason"] == "length"


def test_an_answer_of_very_many_calls_is_refused():
    calls = [chunk(tool_calls=piece(n, "{}", f"c{n}", "t")) for n in range(MAX_CALLS + 1)]

    with pytest.raises(IncompleteAnswer, match="more than 1000 tools"):
        feed(*calls)
