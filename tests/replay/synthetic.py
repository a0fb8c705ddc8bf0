"""Recordings that were made up: what other models say that the corpus happens not to hold."""

from backend.types import JSON
from tests.replay.recordings import Recording


def person(text: str) -> JSON:
    return {"role": "user", "content": text}


def answer(text: str | None, *calls: tuple[str, str, str]) -> JSON:
    """An assistant's message; a call is (id, name, arguments as text)."""
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}


def result(call_id: str, name: str, content: str) -> JSON:
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


SYSTEM = {"role": "system", "content": "  Be exact.\n\n\tKeep odd space.  \n"}

PARALLEL = [
    SYSTEM,
    person("Vergleiche Zürich, 東京 und القاهرة 🙂 e\u0301"),
    answer(
        "Three at once.",
        ("call_1", "weather", '{"city": "Zürich"}'),
        ("call_2", "weather", '{"city":"\\u6771\\u4eac"}'),
        ("call_3", "list_sources", "{}"),
        ("call_4", "weather", '{"city": "القاهرة"}'),
    ),
    result("call_1", "weather", "4 °C\n"),
    result("call_2", "weather", ""),
    result("call_3", "list_sources", "Error: no such thing"),
    result("call_4", "weather", '{"degrees": 31.50, "dry": true}'),
    answer("Kalt, ? und heiß."),
    person("Again, the first."),
    answer(None, ("call_1", "weather", '{"city": "Zürich"}')),
    result("call_1", "weather", "5 °C"),
    answer(None, ("call_1", "weather", '{"city": "Zürich", "unit": "K"}')),
    result("call_1", "weather", "278.15 K"),
]

ODD_ARGUMENTS = [
    person(" \n leading space, and a tab\t"),
    answer(
        None,
        ("a", "note-it", '{"n":1.0,"big":12345678901234567,"e":1e22,"small":-0.10}'),
        ("b", "note-it", ' {\n  "b" : [1,  2.50, null] ,"a":"x/y\\/z\\u00e9é"}\n'),
        ("c", "note-it", '{"z": 1, "a": {"z": 1, "a": ""}}'),
    ),
    result("a", "note-it", " \n "),
    result("b", "note-it", "null"),
    result("c", "note-it", "<b>\u2028</b>\r\n"),
    answer(" spaced \n\n```\n code\n```\n "),
]

TWICE_IN_A_ROW = [
    SYSTEM,
    person("Hello?"),
    person("Is anybody there?"),
    answer("Yes."),
    person("Look it up."),
    answer(None, ("x", "look_up", "{}")),
    result("x", "look_up", "Error: the service is down"),
    answer("It is down."),
    person("###STOP###"),
]

SYNTHETIC = [
    Recording("parallel", PARALLEL),
    Recording("odd-arguments", ODD_ARGUMENTS),
    Recording("twice-in-a-row", TWICE_IN_A_ROW),
]
