"""A tool that no model can be told of is left out, and its server's other tools are not."""

import pytest
from mcp.types import Tool

from backend.tools.mcp.bounds import MAX_CHARS, MAX_DEPTH, why_unusable
from backend.tools.mcp.words import about_unusable
from tests.patience import ends_within

GOOD = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#"}]}}}


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"not": value}
    return value


@pytest.mark.parametrize("schema", [GOOD, {}, {"type": "object"}, nested(MAX_DEPTH - 1)])
def test_a_schema_of_arguments_is_used(schema):
    assert why_unusable(Tool(name="t", description="Does it.", inputSchema=schema)) is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"inputSchema": nested(MAX_DEPTH + 1)}, "deeper than 60 levels"),
        ({"inputSchema": nested(5_000)}, "deeper than 60 levels"),
        ({"inputSchema": GOOD, "outputSchema": nested(MAX_DEPTH + 1)}, "deeper"),
        ({"inputSchema": {"enum": ["a"] * MAX_CHARS}}, "more than 200,000 characters"),
        ({"inputSchema": GOOD, "description": "a" * (MAX_CHARS + 1)}, "more than 200,000"),
        ({"inputSchema": {"type": "string"}}, "does not describe named arguments"),
        (
            {"inputSchema": {"type": "object", "properties": ["a"]}},
            "does not describe named arguments",
        ),
    ],
)
def test_what_no_model_can_be_told_of_is_not_used(fields, said):
    tool = Tool.model_construct(name="t", **{"description": "", "outputSchema": None} | fields)

    assert said in why_unusable(tool)


def test_a_broad_schema_is_looked_at_at_once():
    schema = {"properties": {"a": {"enum": [[] for _ in range(1_000_000)]}}}

    with ends_within(20):
        assert why_unusable(Tool(name="t", inputSchema=schema))


def test_people_are_told_which_and_why():
    said = about_unusable("s", [("a", "its schema is odd"), ("b" * 500, "its schema is odd")])

    assert said.startswith("Tools of the tool server s cannot be used: a (its schema is odd), bbb")
    assert len(said) < 300
