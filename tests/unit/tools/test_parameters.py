"""Parameters of tools as every endpoint takes them, and arguments as the server does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.tools.mcp.parameters import (
    arguments_for_server,
    needed_arguments,
    parameters_for_models,
)
from backend.types import JSON

FINE = {
    "type": "object",
    "properties": {
        "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "n.b-c": {"type": "array", "items": {"$ref": "#/$defs/x"}},
    },
    "required": ["a"],
    "additionalProperties": False,
    "$defs": {"x": {"type": "integer"}},
}
NOTHING = {"type": "object", "properties": {}}
KEYS = ["properties", "required", "anyOf", "allOf", "items", "type", "$ref", "$defs", "$a", "a"]
ANY_SCHEMA = st.recursive(
    st.sampled_from([None, True, 1, "array", "#/$defs/a", "#/properties/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (FINE, FINE),
        ({}, NOTHING),
        ({"type": "object", "properties": {}, "required": None}, NOTHING),
        ({"type": ["object", "null"], "properties": {}}, NOTHING),
        (
            {"properties": {"$top": {"type": "array"}, "top": True}, "required": ["$top"]},
            {
                "type": "object",
                "properties": {"top_2": {"type": "array", "items": {}}, "top": {}},
                "required": ["top_2"],
            },
        ),
        (
            {
                "allOf": [{"$ref": "#/$defs/x"}],
                "$defs": {"x": {"properties": {"a": {}}, "required": ["a"]}},
            },
            {
                "type": "object",
                "properties": {"a": {}},
                "required": ["a"],
                "$defs": {"x": {"properties": {"a": {}}, "required": ["a"]}},
            },
        ),
        (
            {"oneOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            {"type": "object", "properties": {"b": {}, "a": {}}},
        ),
    ],
)
def test_a_model_is_shown_what_every_endpoint_takes(schema: JSON, shown: JSON) -> None:
    assert parameters_for_models(schema) == shown


def test_arguments_reach_the_server_under_its_own_names() -> None:
    within = {"type": "array", "items": {"properties": {"@id": {}}}}
    schema = {"properties": {"$filter": {}, "filter": {}, "Währung": {}, "rows": within}}
    named = {
        "filter_2": 1,
        "filter": 2,
        "Wahrung": 3,
        "rows": [{"id": 4, "x": 5}],
        "free": {"id": 6},
    }

    assert parameters_for_models(schema)["properties"].keys() == {
        "filter_2",
        "filter",
        "Wahrung",
        "rows",
    }
    assert arguments_for_server(named, schema) == {
        "$filter": 1,
        "filter": 2,
        "Währung": 3,
        "rows": [{"@id": 4, "x": 5}],
        "free": {"id": 6},
    }


def test_names_within_references_and_alternatives_are_legal_too() -> None:
    schema = {
        "properties": {"row": {"anyOf": [{"$ref": "#/$defs/row"}, {"type": "null"}]}, "free": {}},
        "$defs": {"row": {"type": "object", "properties": {"@id": {"type": "integer"}}}},
    }

    assert parameters_for_models(schema)["$defs"]["row"]["properties"] == {
        "id": {"type": "integer"}
    }
    named = {"row": {"id": 1, "x": 2}, "free": {"id": 3}}
    assert arguments_for_server(named, schema) == {"row": {"@id": 1, "x": 2}, "free": {"id": 3}}


def test_what_alternatives_need_is_said() -> None:
    options = [{"required": ["$a", "b"]}, {"required": ["c"]}]

    assert (
        needed_arguments({"anyOf": options, "properties": {"$a": {}}}) == "It needs a and b or c."
    )
    assert needed_arguments({"anyOf": [*options, {}]}) == ""


@given(ANY_SCHEMA.filter(lambda one: isinstance(one, dict)))
def test_any_schema_can_be_shown(schema: Any) -> None:
    shown = parameters_for_models(schema)

    assert shown["type"] == "object"
    needed_arguments(schema)
    assert arguments_for_server({"a": [{"a": 1}]}, schema).keys() <= {"a", "$a"}
