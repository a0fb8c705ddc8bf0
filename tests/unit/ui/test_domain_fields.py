"""A domain's form: what the fields hold is the template, and only what was changed is sent."""

from backend.schemas.configuration import Fault
from backend.schemas.domains import DomainTemplate
from ui.features.domains.fields import changed_body, faults_at, to_body, to_values

TEMPLATE = DomainTemplate(
    name="finance",
    model="gpt-4o",
    system_prompt="Be brief.",
    tools=["get_budget"],
    agents=[{"name": "Anna", "system_prompt": "You are Anna.\nBe kind."}],
    middleware=["todos", {"recent_messages": {"keep": 10}}],
    mcp_servers={"s": {"transport": "stdio", "command": "c", "env": {"A": "${B}"}}},
    limits={"steps": 9, "cost": 1.5},
    suggestions=["How much?", "Why?"],
    retention_days=30,
)


def test_what_the_fields_hold_is_the_template() -> None:
    for template in (TEMPLATE, DomainTemplate(name="plain"), DomainTemplate(name="d", tools=[])):
        read = to_body(to_values(template))

        assert read.faults == []
        assert DomainTemplate.model_validate(read.body) == template


def test_only_what_was_changed_is_sent() -> None:
    body = to_body(to_values(TEMPLATE)).body

    assert changed_body(body, {"description"}) == {"description": ""}
    assert set(changed_body(body, {"all_tools", "limits.steps"})) == {"tools", "limits"}


def test_a_limit_that_is_left_empty_is_as_by_default() -> None:
    values = to_values(TEMPLATE) | {"limits.steps": None, "limits.cost": None}

    limits = to_body(values).body["limits"]

    assert (limits["steps"], limits["cost"]) == (200, None)


def test_a_text_that_cannot_be_read_is_a_fault_of_its_field() -> None:
    read = to_body(to_values(TEMPLATE) | {"agents": "- ["})

    assert [fault.path for fault in read.faults] == [["agents"]]
    assert "agents" not in read.body


def test_a_fault_is_said_at_its_field_with_the_place_within() -> None:
    faults = [
        Fault(path=["agents", 1, "name"], message="Too long."),
        Fault(path=["limits", "steps"], message="Too small."),
    ]

    assert faults_at(faults, "agents") == ["2 / name: Too long."]
    assert faults_at(faults, "limits.steps") == ["Too small."]
    assert faults_at(faults, "limits.cost") == []
