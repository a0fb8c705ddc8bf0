"""Values are validated by schemas of strangers, and none of them takes longer than it may."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from backend.sandbox.errors import OutOfMemory, OutOfTime
from backend.sandbox.sandbox import Sandbox
from backend.tools.validation import BOUNDS, NEEDED_MODULES, find_misfit
from backend.types import JSON
from tests.patience import ends_within

EXPONENTIAL: JSON = {"properties": {"a": {"pattern": "^(a+)+$"}}}
PATTERNS = st.sampled_from(["^a", "b$", "a|b", "[ab]{2}", "^(a+)+$", "^x-", "(?!a)b", r"(a)\1"])
TEXTS = st.text(alphabet="abx-", max_size=6)


@pytest.fixture(scope="module")
def sandbox():
    box = Sandbox(NEEDED_MODULES)
    yield box
    box.close()


def test_a_misfit_names_the_place() -> None:
    schema = {"properties": {"mail": {"properties": {"to": {"type": "string"}}}}}

    assert find_misfit(schema, {"mail": {"to": 1}}) == "mail.to: 1 is not of type 'string'"
    assert find_misfit(schema, {"mail": {"to": "ann"}}) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "no such type"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "#"},
        {"properties": {"a": {"pattern": "("}}},
        {"$schema": 5, "required": ["b"], "type": "no such type"},
        {"$schema": "http://[", "required": ["b"]},
    ],
)
def test_a_schema_that_cannot_be_used_refuses_nothing(schema: JSON) -> None:
    assert find_misfit(schema, {"a": "b"}) is None


@pytest.mark.parametrize(
    ("draft", "schema", "said"),
    [
        ("draft-04", {"minimum": 1, "exclusiveMinimum": True}, "a: 1 is less than or equal"),
        ("draft-06", {"exclusiveMinimum": 1}, "a: 1 is less than or equal"),
        ("draft-07", {"items": [{"type": "number"}], "type": "array"}, "a: 1 is not of type"),
    ],
)
def test_a_schema_is_of_the_draft_that_it_names(draft: str, schema: JSON, said: str) -> None:
    named = f"http://json-schema.org/{draft}/schema#"
    found = find_misfit({"$schema": named, "properties": {"a": schema}}, {"a": 1})

    assert found is not None
    assert found.startswith(said)


def test_a_multiple_is_one_as_it_is_written() -> None:
    def misfit(step: float, value: object) -> str | None:
        return find_misfit({"properties": {"a": {"multipleOf": step}}}, {"a": value})

    assert [cents for cents in range(3_000) if misfit(0.01, cents / 100)] == []
    assert misfit(0.01, 19.995) == "a: 19.995 is not a multiple of 0.01"
    assert misfit(3, 10**400 + 1) is not None
    assert [misfit(0.5, one) for one in ("text", float("inf"), float("nan"))] == [None] * 3


@given(PATTERNS, TEXTS)
def test_patterns_find_what_they_have_always_found(pattern: str, text: str) -> None:
    said = find_misfit({"properties": {"a": {"pattern": pattern}}}, {"a": text})

    assert (said is None) == bool(re.search(pattern, text))


@given(st.dictionaries(PATTERNS, st.just({"type": "integer"}), max_size=2), TEXTS, st.booleans())
def test_names_are_matched_as_they_have_always_been(patterns: JSON, name: str, extra: bool) -> None:
    schema = {
        "properties": {"known": {}},
        "patternProperties": patterns,
        "additionalProperties": {"type": "string"} if extra else False,
    }
    for value in (1, "one"):
        expected = Draft202012Validator(schema).is_valid({"known": 1, name: value})

        assert (find_misfit(schema, {"known": 1, name: value}) is None) == expected


@pytest.mark.parametrize(
    "schema",
    [
        EXPONENTIAL,
        {"patternProperties": {"^(a+)+$": {}}},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
    ],
)
def test_a_pattern_without_end_is_matched_at_once(schema: JSON) -> None:
    text = "a" * 50_000 + "!"

    with ends_within(20):
        find_misfit(schema, {"a": text, text: 1})


def doubling(keyword: str, last: JSON) -> JSON:
    """A schema that looks at its last part 2⁴⁰ times."""
    steps = {
        f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(40)
    }
    return {"$defs": steps | {"d40": last}, "$ref": "#/$defs/d0"}


DOUBLING = doubling("allOf", {})  # all fits, so nothing is kept: it takes time alone
KEEPING = doubling("anyOf", {"const": 1})  # nothing fits, and each misfit is kept
LOOKING_AROUND: JSON = {"properties": {"a": {"pattern": "^(?!b)(a+)+$"}}}


@pytest.mark.parametrize("schema", [DOUBLING, LOOKING_AROUND], ids=["references", "lookaround"])
def test_what_cannot_be_found_out_in_time_is_ended(sandbox: Sandbox, schema: JSON) -> None:
    with pytest.raises(OutOfTime):
        sandbox.run_blocking(find_misfit, schema, {"a": "a" * 40 + "!"}, bounds=BOUNDS)


def test_what_takes_time_and_memory_is_ended_at_the_first_limit(sandbox: Sandbox) -> None:
    with pytest.raises((OutOfTime, OutOfMemory)):  # which one, the machine's speed decides
        sandbox.run_blocking(find_misfit, KEEPING, {}, bounds=BOUNDS)


def test_the_loop_goes_on_while_a_value_is_validated(sandbox: Sandbox) -> None:
    async def validate() -> int:
        check = asyncio.ensure_future(sandbox.run(find_misfit, DOUBLING, {}, bounds=BOUNDS))
        turns = 0
        while not check.done():
            await asyncio.sleep(0.05)
            turns += 1
        assert isinstance(check.exception(), OutOfTime)
        return turns

    assert asyncio.run(validate()) > 5
