"""How an image differs from its domain: applying the difference to the one gives the other."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domains.drift import ORDER, by_name, diff, diff_templates
from backend.domains.template import image_of, said_by, template_of
from backend.schemas.domains.configuration import DriftChange
from backend.schemas.domains.templates import DomainTemplate

NAMES = st.sampled_from(["anna", "ben", "carl", "dora"])
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)
AGENTS = st.lists(
    st.fixed_dictionaries({"name": NAMES}, optional={"tools": st.lists(NAMES), "prompt": VALUES}),
    max_size=4,
)
POLICIES = st.lists(NAMES | st.dictionaries(NAMES, VALUES, min_size=1, max_size=1), max_size=4)
CONFIGURATIONS = st.fixed_dictionaries(
    {},
    optional={"agents": AGENTS, "middleware": POLICIES, "tools": st.lists(NAMES), "limits": VALUES},
)


def apply(old: Any, changes: list[DriftChange]) -> Any:
    new = deepcopy(old)
    for change in changes:
        *way, last = change.path
        holder = new
        for key in way:
            holder = holder[key]
        if change.kind == "removed":
            assert holder.pop(last) == change.image
        else:
            holder[last] = change.domain
    return new


def without_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_order(item) for key, item in value.items() if key != ORDER}
    return value


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"system_prompt": "Be brief.", "limits": {"steps": 7}},
        {"agents": [{"name": "anna"}, {"name": "ben", "model": "m"}], "tools": []},
        {"mcp_servers": {"s": {"transport": "stdio", "command": "serve"}}},
    ],
)
def test_a_new_image_differs_in_nothing_from_its_domain(said: dict[str, Any]) -> None:
    template = DomainTemplate(name="d", **said)
    domain, other = template_of(said_by(template)), DomainTemplate(name="d", model="another")

    for image in (image_of(template), said_by(template)):
        assert diff_templates(template_of(image), domain) == []
        assert diff_templates(template_of(image), other) == diff_templates(template, other)


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_applying_the_difference_gives_the_other(one: dict, other: dict) -> None:
    old, new = by_name(one), by_name(other)

    changes = list(diff(old, new))

    assert without_order(apply(old, changes)) == without_order(new)
    assert len({tuple(change.path) for change in changes}) == len(changes)


@given(CONFIGURATIONS)
def test_what_is_equal_does_not_differ(one: dict) -> None:
    assert list(diff(by_name(one), by_name(deepcopy(one)))) == []


@given(CONFIGURATIONS, CONFIGURATIONS)
def test_what_differs_is_told(one: dict, other: dict) -> None:
    if not list(diff(by_name(one), by_name(other))):
        assert by_name(one) == by_name(other)


def test_one_more_agent_in_front_changes_no_other() -> None:
    ben = {"name": "Ben", "system_prompt": "You are Ben."}
    image = DomainTemplate(name="d", agents=[ben])
    domain = DomainTemplate(name="d", agents=[{"name": "Anna"}, {**ben, "model": "m"}])

    changes = {tuple(change.path): change.kind for change in diff_templates(image, domain)}

    assert changes == {("agents", "Anna"): "added", ("agents", "Ben", "model"): "added"}


def test_another_order_is_told_by_itself() -> None:
    image = DomainTemplate(name="d", middleware=["a", {"b": {"keep": 1}}])
    domain = DomainTemplate(name="d", middleware=[{"b": {"keep": 1}}, "a"])

    (change,) = diff_templates(image, domain)

    assert (change.path, change.image, change.domain) == (
        ["middleware", ORDER],
        ["a", "b"],
        ["b", "a"],
    )


def test_whole_values_are_told_as_they_are_written() -> None:
    image = DomainTemplate(name="d")
    agents = [{"name": "Anna"}, {"name": "Ben", "tools": ["get_budget"]}]
    domain = DomainTemplate(name="d", agents=agents, tools=["get_budget", "list_sources"])

    told = {change.path[0]: change.domain for change in diff_templates(image, domain)}

    assert told == {
        "agents": ["Anna", {"Ben": {"tools": ["get_budget"]}}],
        "tools": ["get_budget", "list_sources"],
    }


def test_what_is_as_by_default_says_nothing() -> None:
    image = DomainTemplate(name="d", limits={"steps": 200}, agents=[])

    assert diff_templates(image, DomainTemplate(name="d")) == []


def test_true_is_not_one() -> None:
    assert [change.kind for change in diff({"a": True}, {"a": 1})] == ["changed"]
