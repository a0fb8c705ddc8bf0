"""The rules by which a request gets the form that an endpoint takes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.agents.middleware.todos import Todos, TodosSettings
from backend.llm.chat_model import describe_tool
from backend.llm.form.call_ids import with_strict_ids
from backend.llm.form.plain import (
    MAX_DESCRIPTION,
    bound_description,
    find_called,
    legal_name,
    use_plain_form,
)
from backend.llm.form.repairs import choose_repairs, shape
from backend.llm.form.schemas import simplify_schema
from backend.llm.form.turns import (
    BLANKS,
    NO_ANSWER,
    SILENT,
    in_strict_order,
    with_spoken_calls,
    without_blanks,
)
from backend.llm.refusals import Refusal
from backend.types import JSON
from tests.servers.strict import (
    distinct_ids,
    legal_names,
    nine_signs,
    nothing_empty,
    person_last,
    plain_schemas,
    system_first,
    taking_turns,
)

OFFERED = ("look", "look_up", "commentary")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("look", "look"),
        ("functions.look", "look"),
        ("default_api.look_up", "look_up"),
        ("look<|channel|>commentary", "look"),
        ("assistant<|channel|>commentary to=functions.look", "assistant<|channel|>commentary to="
         "functions.look"),
        ("<|constrain|>look", "look"),
        (" look\n", "look"),
        ("functions.look:0", "look"),
        ("look.look_up", "look.look_up"),
        ("functions.fly", "functions.fly"),
        ("functions_look", "functions_look"),
        ("looking", "looking"),
    ],
)  # fmt: skip
def test_an_illegal_name_means_the_one_tool_whose_name_it_holds(name: str, meant: str) -> None:
    assert find_called(name, OFFERED) == meant


@given(st.text(min_size=1, max_size=80))
def test_every_name_is_sent_as_a_legal_one_and_a_legal_one_as_it_is(name: str) -> None:
    call: JSON = {"function": {"name": legal_name(name)}, "id": "a"}

    assert legal_names({"messages": [{"tool_calls": [call]}]}) is None
    assert legal_name(legal_name(name)) == legal_name(name)


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text":
         "\n\nb"}]}, "a\n\nb"),
        ({"role": "tool", "content": [{"type": "text", "text": "a"}, {"type": "text", "text":
         "b"}]}, "a\nb"),
        ({"role": "user", "content": "  a "}, "  a "),
        ({"role": "assistant", "content": None}, None),
    ],
)  # fmt: skip
def test_text_in_parts_is_sent_as_a_text(message: JSON, content: Any) -> None:
    use_plain_form(message)

    assert message["content"] == content


def test_parts_that_say_more_than_a_text_are_left_alone() -> None:
    parts = [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "y"}]
    message = {"role": "assistant", "content": parts}

    use_plain_form(message)

    assert message["content"] == parts


@given(st.text("ab. \n", max_size=4 * MAX_DESCRIPTION))
def test_a_long_description_goes_on_in_that_of_the_parameters(text: str) -> None:
    bound = bound_description({"name": "t", "description": text, "parameters": {"type": "object"}})

    assert len(bound["description"]) <= MAX_DESCRIPTION
    rest = bound["parameters"].get("description", "")
    assert "".join(text.split()) in "".join((bound["description"] + rest[41:]).split())


def test_the_tool_for_todos_says_all_that_it_has_to_in_its_own_description() -> None:
    described = describe_tool(Todos(TodosSettings()).tools[0])["function"]

    assert len(described["description"]) <= MAX_DESCRIPTION
    assert "description" not in described["parameters"]


ids = st.sampled_from(["call_1", "call_2", "abcDEF123", "x" * 80, "é", "000000000"])
batches = st.lists(st.lists(ids, min_size=1, max_size=3, unique=True), max_size=6)


def conversation(batches: list[list[str]]) -> list[JSON]:
    messages: list[JSON] = [{"role": "user", "content": "a"}]
    for batch in batches:
        calls = [{"id": each, "function": {"name": "t", "arguments": "{}"}} for each in batch]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": each, "content": "x"} for each in batch]
    return messages


@given(batches)
def test_strict_ids_are_distinct_and_pair_calls_with_their_results(
    batches: list[list[str]],
) -> None:
    messages = with_strict_ids(conversation(batches))

    assert nine_signs({"messages": messages}) is None
    assert distinct_ids({"messages": messages}) is None
    called = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == called


@given(batches)
def test_a_request_that_continues_another_gets_the_same_ids(batches: list[list[str]]) -> None:
    messages = conversation(batches)

    for end in range(len(messages)):
        if messages[end]["role"] != "tool":
            assert with_strict_ids(messages)[:end] == with_strict_ids(messages[:end])


def test_good_ids_are_left_as_they_are() -> None:
    messages = conversation([["abcDEF123"], ["abcDEF124"]])

    for message, strict in zip(messages, with_strict_ids(messages), strict=True):
        assert strict is message


said = st.builds(
    lambda role, content, name: (
        {"role": role, "content": content} | ({"name": name} if name else {})
    ),
    st.sampled_from(["user", "assistant", "system"]),
    st.sampled_from(["a", "", " ", "b\n", None]),
    st.sampled_from(["", "Sage"]),
)
talks = st.lists(st.one_of(said.map(lambda m: [m]), batches.map(conversation)), max_size=8).map(
    lambda parts: [message for part in parts for message in part]
)


@given(talks.filter(len))
def test_any_messages_get_the_strict_order_and_lose_no_text(messages: list[JSON]) -> None:
    ordered = without_blanks(in_strict_order(messages))

    for strict in (taking_turns, person_last, system_first, nothing_empty):
        assert strict({"messages": ordered}) is None, strict.__name__
    whole = "\n".join(message["content"] or "" for message in ordered)
    assert all((message["content"] or "").strip() in whole for message in messages)
    assert without_blanks(in_strict_order(ordered)) == ordered


def test_a_line_says_where_an_answer_is_missing() -> None:
    messages = [*conversation([["a"]]), {"role": "user", "content": "go on"}]

    *_, result, line, question = in_strict_order(messages)

    assert (result["role"], question) == ("tool", messages[-1])
    assert line == {"role": "assistant", "content": NO_ANSWER}


def test_results_have_the_order_of_their_calls() -> None:
    person, calls, *results = conversation([["a", "b", "c"]])
    _, b, c = results

    ordered = in_strict_order([person, calls, b, c, results[0]])

    assert ordered == [person, calls, *results]


def test_an_empty_result_says_so() -> None:
    [filled] = without_blanks([{"role": "tool", "content": " \n", "tool_call_id": "a"}])

    assert filled == {"role": "tool", "content": BLANKS["tool"], "tool_call_id": "a"}


def test_calls_without_a_word_say_something_where_each_message_needs_a_text() -> None:
    messages = conversation([["a"]])

    spoken = with_spoken_calls(messages)

    assert all(message["content"] for message in spoken)
    assert spoken[1] == {**messages[1], "content": SILENT}
    assert with_spoken_calls(spoken) == spoken


TREE: JSON = {
    "type": "object",
    "properties": {
        "tree": {"$ref": "#/$defs/Tree"},
        "kind": {"const": "a"},
        "when": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "many": {"type": ["array", "null"]},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}]},
        "both": {"allOf": [{"properties": {"x": {"type": "number"}}}, {"required": ["x"]}]},
        "const": {"type": "string", "description": "A property of an odd name."},
    },
    "$defs": {"Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}}},
    "additionalProperties": False,
}


def test_a_schema_is_described_by_what_every_endpoint_knows() -> None:
    simple = simplify_schema(TREE)

    tools = [{"function": {"name": "t", "parameters": simple}}]
    assert plain_schemas({"tools": tools}) is None
    properties = simple["properties"]
    assert properties.keys() == TREE["properties"].keys()
    assert properties["kind"] == {"enum": ["a"], "type": "string"}
    assert properties["when"] == {"type": "string"}
    assert properties["pair"]["items"] == {"type": "integer"}
    assert properties["both"]["properties"] == {"x": {"type": "number"}}
    assert properties["tree"]["properties"]["left"]["type"] == "object"


def test_a_schema_that_grows_without_end_is_cut() -> None:
    wide = {f"p{place}": {"$ref": "#/$defs/a"} for place in range(30)}
    schema = {"type": "object", "properties": wide, "$defs": {"a": {"properties": wide}}}

    assert len(json.dumps(simplify_schema(schema))) < 1_000_000


def refusal(words: str, status: int = 400) -> Refusal:
    return Refusal(status=status, codes=frozenset(), words=words, said=words.lower())


PAYLOAD: JSON = {
    "model": "m",
    "messages": [*conversation([["call_1"], ["call_1"]]), {"role": "user", "content": ""}],
    "tools": [{"type": "function", "function": {"name": "t", "parameters": TREE}}],
    "stream_options": {"include_usage": True},
}
OF_MESSAGES = {"order", "blanks", "call ids"}
REST = {"silent calls", "schemas"}


@pytest.mark.parametrize(
    ("words", "status", "chosen"),
    [
        ("Unexpected role 'user' after role 'tool'", 400, OF_MESSAGES),
        ("Conversation roles must alternate user/assistant/user/assistant/...", 400, OF_MESSAGES),
        ("Conversation roles must alternate user/assistant", 500, OF_MESSAGES),
        ("tool_use ids must be unique: call_0", 400, OF_MESSAGES),
        ("Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", 422,
         OF_MESSAGES),
        ("Invalid 'messages[2].tool_calls[0].id': string too long.", 400, OF_MESSAGES),
        ("Duplicate value for 'tool_call_id' of call_1 in message[1]", 400, OF_MESSAGES),
        ("Ensure that a function call turn comes immediately after a user turn", 400, OF_MESSAGES),
        ("A text field in the ContentBlock object at messages.1.content.0 is blank.", 400,
         OF_MESSAGES),
        ("messages.4: text content blocks must be non-empty", 400, OF_MESSAGES),
        ("Unrecognized request argument supplied: stream_options", 400, {"stream_options"}),
        ("body.stream_options: Extra inputs are not permitted", 422, {"stream_options"}),
        ('Invalid JSON payload received. Unknown name "$defs"', 400, {"schemas"}),
        ("Invalid schema for function 't': 'filter' is not valid", 400, {"schemas"}),
        ("API key not valid. Please pass a valid API key.", 400, set()),
        ("Failed to deserialize the JSON body", 422, OF_MESSAGES | REST),
        ("Failed to deserialize the JSON body", 500, set()),
        ("", 400, OF_MESSAGES | REST),
        ("", 500, set()),
        ("Your prompt was flagged: content policy", 400, set()),
        ("nothing was recorded here", 400, set()),
        ("messages[1].content: invalid type: null, expected a string", 400, {"silent calls"}),
        ("messages[1].content must be a non-empty string", 400, OF_MESSAGES | {"silent calls"}),
        ("messages.1.content: Input should be a valid string", 422, {"silent calls"}),
        ("maximum context length is 4096 tokens, but the messages have 5000", 400, set()),
        ("Conversation roles must alternate", 429, set()),
    ],
)  # fmt: skip
def test_the_words_of_a_refusal_choose_what_is_repaired(
    words: str, status: int, chosen: set[str]
) -> None:
    assert choose_repairs(refusal(words, status), PAYLOAD, ()) == chosen


def test_an_error_within_an_answer_counts_by_its_code() -> None:
    said = Refusal(0, frozenset(["400"]), "Provider returned error for messages", "")

    assert choose_repairs(said, PAYLOAD, ()) == OF_MESSAGES | REST


def test_what_has_been_repaired_is_not_repaired_again() -> None:
    again = refusal("Conversation roles must alternate")
    repaired, changes = shape(PAYLOAD, OF_MESSAGES)

    assert len(changes) == len(OF_MESSAGES)
    assert choose_repairs(again, repaired, OF_MESSAGES) == REST
    assert choose_repairs(again, repaired, OF_MESSAGES | REST) == frozenset()


def test_a_request_that_needs_no_repair_is_sent_as_it_is() -> None:
    payload = {"messages": [{"role": "user", "content": "a"}], "tools": []}

    shaped, changes = shape(payload, OF_MESSAGES | {"tools", "schemas"})

    assert shaped is payload
    assert changes == []
