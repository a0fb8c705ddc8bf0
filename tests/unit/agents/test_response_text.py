"""What people read of an agent's answer while it arrives."""

import json

import pytest
from langchain_core.messages import AIMessage

from backend.agents.team.response import follow, is_prose, read_response
from backend.agents.team.streaming import ResponseText
from backend.llm.events import Delta, ModelEvent

FORMAL = '{"taskComplete": true, "message": "Done \\ud83d\\ude00: \\"x\\"\\n", "nextStep": null}'


def shown(answer: str, size: int, *, is_manager: bool = False) -> str:
    told: list[ModelEvent] = []
    stream = ResponseText(told.append, is_manager=is_manager)
    for start in range(0, len(answer), size):
        stream(Delta("m", answer[start : start + size]))
    return "".join(event.text for event in told if isinstance(event, Delta))


@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("plain words", "plain words"),
        ("`code` begins it", "`code` begins it"),
        ("{x} begins it", "{x} begins it"),
        ("```sql\nSELECT 1\n``` is SQL", "```sql\nSELECT 1\n``` is SQL"),
        (FORMAL, 'Done 😀: "x"\n'),
        (f"\n ```json\n {FORMAL}\n```", 'Done 😀: "x"\n'),
        (f"Well: \n```\n{FORMAL}\n```", 'Well: \nDone 😀: "x"\n'),
        ('{"reasoning": {"message": "no"}, "b": ["message", "no"], "message": "yes"}', "yes"),
        ('{"message": "\\ud83d is half, \\u0000 none"}', "\ufffd is half, ␀ none"),
    ],
)
@pytest.mark.parametrize("is_manager", [True, False])
def test_prose_is_read_as_it_comes_and_of_a_response_its_message(
    answer: str, read: str, size: int, *, is_manager: bool
) -> None:
    assert shown(answer, size, is_manager=is_manager) == read


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_any_json_is_an_answer_unless_a_manager_gives_it(size: int) -> None:
    rows = '{"rows": [1, 2], "message": "no"}'

    assert shown(rows, size) == rows
    assert shown(rows, size, is_manager=True) == "no"


def test_null_stands_for_what_is_absent() -> None:
    change = {"newElements": [{"key": "a", "value": None}], "removeElements": None}
    given = {"taskComplete": None, "message": "m", "payloadChangeRequest": change}
    response = read_response(
        AIMessage(json.dumps(given | {"nextStep": {"type": "Chat", "actions": None}}))
    )

    assert response is not None
    assert follow(response, {}, []).payload == {"a": None}


def test_a_message_is_read_before_its_object_ends() -> None:
    assert shown('{"message": "Half of a sent', 4) == "Half of a sent"


@pytest.mark.parametrize("answer", ["`" + "a" * 300_000, "{" * 300_000, '{"message": "' * 20_000])
def test_the_longest_answer_is_looked_at_once(answer: str) -> None:
    """With its whole text read for each piece, this would not end in an hour."""
    shown(answer, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", True),
        ("`code` and {braces}", True),
        ('For example:\n```json\n{"rows": []}\n```', True),
        ("", False),
        (" \n", False),
        (FORMAL[:-1], False),
        ("{'taskComplete': True}", False),
        ("Sure: {taskComplete: true}", False),
        (json.dumps({"rows": []}), False),
        ('```json\n{"rows": []}\n```', False),
    ],
)
def test_prose_is_what_was_not_meant_as_a_response(text: str, *, expected: bool) -> None:
    assert is_prose(text) is expected
