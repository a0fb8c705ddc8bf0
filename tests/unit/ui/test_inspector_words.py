"""How the inspector writes what the model reads."""

from backend.schemas.inspection import Origin, ReadMessage
from ui.features.inspector.words import words_read


def test_arguments_of_calls_are_written_as_json_and_not_as_pythons_own() -> None:
    calls = [
        {"id": "1", "name": "look", "arguments": {"sql": "SELECT 'é'", "all": True, "n": None}},
        {"id": "2", "name": "odd", "arguments": '{"cut'},
    ]
    message = ReadMessage(
        id="m", place=0, role="assistant", text="I look.", calls=calls, tokens=1, origin=Origin.SAID
    )

    said = " ".join(words_read(message).split())

    assert said == """I look. look({ "sql": "SELECT 'é'", "all": true, "n": null }) odd({"cut)"""
