"""A domain's draft: it says what the template says, and only what was changed is sent."""

from hypothesis import given
from hypothesis import strategies as st

from backend.schemas.domains.templates import DomainTemplate
from tests.unit.ui.test_yaml_text import VALUES
from ui.features.domains.form.body import (
    change_of,
    get,
    misshapen,
    new_body,
    place_words,
    put,
    renamed,
    said_by,
)
from ui.shared.text.yaml_text import read, write

TEMPLATE = DomainTemplate(
    name="finance",
    model="gpt-4o",
    system_prompt="Be brief.",
    tools=["get_budget"],
    agents=[{"name": "Anna", "system_prompt": "You are Anna.\nBe kind.", "middleware": []}],
    middleware=["todos", {"recent_messages": {"keep": 10}}],
    mcp_servers={"s": {"transport": "stdio", "command": "c", "env": {"A": "${B}"}}},
    manager={"description": "Plans.", "tools": ["get_budget"]},
    limits={"steps": 9, "cost": 1.5},
    suggestions=["How much?", "Why?"],
    retention_days=30,
)


def test_what_a_draft_says_is_the_template_also_by_way_of_yaml() -> None:
    managed = DomainTemplate(name="d", manager={})
    for template in (
        TEMPLATE,
        managed,
        DomainTemplate(name="p"),
        DomainTemplate(name="d", tools=[]),
    ):
        body = said_by(template)

        assert DomainTemplate.model_validate(body) == template
        assert read(write(body)) == body


@given(st.dictionaries(st.sampled_from(["settings", "agents", "x"]), VALUES, min_size=1))
def test_yaml_loses_nothing_of_any_draft(body) -> None:
    assert read(write(body)) == body


def test_only_what_was_changed_is_sent() -> None:
    before = said_by(TEMPLATE)

    assert change_of(before, put(before, ("description",), "New.")) == {"description": "New."}
    assert change_of(before, put(before, ("limits", "steps"), None)) == {"limits": {"cost": 1.5}}
    without = {n: v for n, v in before.items() if n not in ("tools", "agents")}
    assert change_of(before, without) == {"tools": None, "agents": []}
    assert change_of(before, dict(before)) == {}


def test_a_policy_by_its_name_is_given_settings_and_loses_them_again() -> None:
    path = ("middleware", 0, "todos", "prompt")
    body = said_by(TEMPLATE)

    given_one = put(body, path, "Plan.")

    assert given_one["middleware"][0] == {"todos": {"prompt": "Plan."}}
    assert get(given_one, path) == "Plan."
    assert put(given_one, path, None) == body


def test_a_new_name_keeps_its_place() -> None:
    assert list(renamed({"a": 1, "b": 2, "c": 3}, "b", "x").items()) == [
        ("a", 1),
        ("x", 2),
        ("c", 3),
    ]


def test_places_are_counted_as_people_do() -> None:
    assert place_words(["agents", 1, "name"]) == "agents / 2 / name"


def test_what_a_form_cannot_show_is_known() -> None:
    odd = {"agents": 1, "middleware": [[]], "limits": {}, "mcp_servers": {"a": 1}, "manager": []}

    assert set(misshapen(odd)) == {"agents", "middleware", "mcp_servers", "manager"}
    assert not list(misshapen({"manager": None}))
    assert not list(misshapen(said_by(TEMPLATE)))


def test_a_new_domain_summarises_and_names_its_conversations() -> None:
    assert DomainTemplate.model_validate({"name": "d", **new_body()}).middleware == [
        "summarization",
        "title",
    ]
    assert DomainTemplate(name="d").middleware == []
