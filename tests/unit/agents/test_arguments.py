"""Arguments are fitted to a tool's schema where one thing only can be meant."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.agents.steps.arguments import fit_arguments
from backend.types import JSON

SCHEMA: JSON = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": {"type": "integer"}},
        "deep": {"type": "object", "properties": {"rows": {"$ref": "#/$defs/Rows"}}},
        "many": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "is_all": {"type": "boolean"},
        "nullable": {"anyOf": [{"type": "array", "items": {}}, {"type": "null"}]},
        "either": {"type": ["string", "array"]},
        "any": {},
        "needed": {"type": "integer"},
    },
    "required": ["needed"],
    "$defs": {
        "Rows": {"type": "array", "items": {"type": "number"}},
        "Item": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}


@pytest.mark.parametrize(
    ("given_arguments", "fitted"),
    [
        ({"rows": "[1,2]"}, {"rows": [1, 2]}),
        ({"rows": ["1", "2"]}, {"rows": [1, 2]}),
        ({"deep": '{"rows": "[1.5]"}'}, {"deep": {"rows": [1.5]}}),
        ({"many": [{"n": "3"}, '{"n": 4}']}, {"many": [{"n": 3}, {"n": 4}]}),
        ({"count": "5", "is_all": "true"}, {"count": 5, "is_all": True}),
        ({"nullable": "[1]"}, {"nullable": [1]}),
        ({"nullable": "null"}, {"nullable": None}),
        ({"count": None, "text": None, "rows": None}, {}),
        ({"many": [{"n": None}]}, {"many": [{}]}),
    ],
)
def test_what_can_mean_one_thing_only_is_read_as_that(given_arguments: JSON, fitted: JSON) -> None:
    assert fit_arguments(SCHEMA, given_arguments) == fitted


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "[1,2]"},
        {"either": "[1,2]"},
        {"any": "[1,2]"},
        {"any": None},
        {"nullable": None},
        {"needed": None},
        {"unknown": None},
        {"rows": "1, 2"},
        {"rows": "{}"},
        {"count": "5.5"},
        {"count": "five"},
        {"rows": "[" * 5_000},
    ],
)
def test_what_may_mean_something_else_is_left_to_the_tool(arguments: JSON) -> None:
    assert fit_arguments(SCHEMA, arguments) is arguments


def test_a_schema_that_refers_to_itself_without_end_changes_nothing() -> None:
    schema = {"properties": {"a": {"$ref": "#/properties/a"}}, "type": "object"}
    arguments = {"a": "[1]"}

    assert fit_arguments(schema, arguments) is arguments


WORDS = st.sampled_from(
    ["type", "properties", "items", "required", "anyOf", "$ref", "array", "#/properties/rows", "a"]
)
schemas = st.recursive(
    st.none() | st.booleans() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("[]{}1,", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "x"]), values), schemas)
def test_any_arguments_and_any_schema_are_borne(arguments: JSON, schema: Any) -> None:
    fitted = fit_arguments(SCHEMA, arguments)

    assert fit_arguments(SCHEMA, fitted) == fitted
    assert fit_arguments({"type": "object", "properties": {"rows": schema}}, arguments) is not None
    assert fit_arguments({"type": "object", "properties": schema}, arguments) is not None
