"""The wire contract: what it takes, what it refuses, and the names that it promises."""

from uuid import uuid4

import orjson
import pytest
from pydantic import BaseModel, ValidationError

from backend.domains.team import agent_for, agents_for
from backend.domains.template import check_template, image_of, said_by, template_of
from backend.errors.base import InvalidInput
from backend.schemas.conversations import sessions as schemas
from backend.schemas.conversations.sessions import (
    ChatRequest,
    EventContext,
    NewChatRequest,
    SessionChange,
)
from backend.schemas.conversations.turns import TurnStatus, Usage
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate, Limits
from backend.schemas.events import EVENTS, Progress, read_event
from backend.types import JSON
from colloquy_kit.messages.kinds import ContentType


def test_statuses_events_and_contents_have_the_promised_names() -> None:
    assert set(TurnStatus) == {"queued", "running", "waiting", "succeeded", "failed", "stopped"}
    assert set(EVENTS) >= {
        "turn_queued", "turn_started", "text_delta", "thinking_delta", "message_added",
        "message_updated", "todos_updated", "progress", "interrupt", "turn_finished",
    }  # fmt: skip
    assert set(ContentType) == {
        "text", "thinking", "tool_call", "tool_result", "todos", "artifact", "image", "file",
        "interrupt", "notice", "error",
    }  # fmt: skip


def test_an_event_is_read_from_its_name_and_its_data() -> None:
    ids = {name: uuid4() for name in ("session_id", "image_id", "turn_id")}
    context = EventContext(domain_id=None, agent_id="analyst", **ids)
    event = Progress(context=context, state="running_tool", call_id="c1", text="3 of 7")

    data = event.model_dump(mode="json")

    assert data.keys() == {"context", "state", "call_id", "text"}
    assert read_event("progress", data) == read_event("progress", orjson.dumps(data)) == event
    for name, odd in (("unknown", data), ("reset", data), ("progress", {}), ("progress", [])):
        with pytest.raises(ValueError, match=r"no event|validation error"):
            read_event(name, odd)


@pytest.mark.parametrize("model", [ChatRequest, NewChatRequest])
@pytest.mark.parametrize("extra", ["messages", "owner_id", "turn_id", "status"])
def test_a_field_that_is_not_offered_is_refused(model: type[BaseModel], extra: str) -> None:
    with pytest.raises(ValidationError):
        model.model_validate({"message": "x", extra: "y"})


@pytest.mark.parametrize("field", ["id", "owner", "status", "message_count", "image_id"])
def test_a_session_cannot_be_given_what_the_server_decides(field: str) -> None:
    with pytest.raises(ValidationError):
        SessionChange.model_validate({field: "x"})


@pytest.mark.parametrize(
    "server",
    [
        {"transport": "streamable_http", "url": "http://x", "headers": {"A": "${TOKEN}"}},
        {"transport": "stdio", "command": "python", "args": ["-m", "x"], "env": {"A": "b"}},
    ],
)
def test_both_kinds_of_tool_servers_are_taken_as_they_are(server: JSON) -> None:
    template = DomainTemplate(name="d", mcp_servers={"s": server})

    dumped = template.model_dump(mode="json", exclude_none=True)
    assert dumped["mcp_servers"]["s"] == server


@pytest.mark.parametrize(
    "server",
    [
        {},
        {"transport": "sse", "url": "http://x"},
        {"transport": "stdio", "url": "http://x"},
        {"transport": "streamable_http", "command": "python"},
        {"url": "http://x"},
    ],
)
def test_other_tool_servers_are_refused(server: JSON) -> None:
    with pytest.raises(ValidationError):
        DomainTemplate(name="d", mcp_servers={"s": server})


@pytest.mark.parametrize("name", ["", "1a", "a b", "a/b", "@a", "-a", "a" * 81])
def test_an_agent_that_cannot_be_mentioned_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        AgentTemplate(name=name)


def test_a_domain_keeps_only_what_its_template_says() -> None:
    template = DomainTemplate(name="d", system_prompt="Be brief.", middleware=[])

    assert said_by(template) == {"name": "d", "system_prompt": "Be brief."}
    assert template_of(said_by(template)) == template


def test_an_image_says_all_also_what_its_template_leaves_open() -> None:
    template = DomainTemplate(name="d", limits={"steps": 7})

    image = image_of(template)

    assert set(image) == set(DomainTemplate.model_fields)
    assert (image["model"], image["mcp_servers"], image["manager"]) == (None, {}, None)
    assert set(image["limits"]) == set(Limits.model_fields)
    assert (image["limits"]["steps"], image["limits"]["tool_seconds"]) == (7, 600)
    assert [agent["name"] for agent in image["agents"]] == ["assistant"]
    assert image_of(template_of(image)) == image


def test_an_image_of_a_later_version_can_be_read() -> None:
    image = {"name": "d", "of_a_later_version": {"x": 1}}

    assert template_of(image) == DomainTemplate(name="d")


def test_agents_are_found_by_name_whatever_its_case() -> None:
    domain = DomainTemplate(name="d", agents=[{"name": "Anna"}, {"name": "Ben"}])

    assert agent_for(domain, None, None).name == "Anna"
    assert agent_for(domain, None, "BEN").name == "Ben"
    assert agent_for(DomainTemplate(name="d"), None, None).name == "assistant"
    with pytest.raises(InvalidInput, match="Anna, Ben"):
        agent_for(domain, None, "Carl")


def test_who_may_use_an_agent_is_by_role() -> None:
    agents = [{"name": "Anna", "roles": ["admin"]}, {"name": "Ben"}]
    domain = DomainTemplate(name="d", agents=agents, manager={})

    assert [agent.name for agent in agents_for(domain, "admin")] == ["Sage", "Anna", "Ben"]
    assert [agent.name for agent in agents_for(domain, "member")] == ["Sage", "Ben"]
    with pytest.raises(InvalidInput, match="Sage, Ben"):
        agent_for(domain, "member", "Anna")


def test_two_agents_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="anna"):
        check_template(DomainTemplate(name="d", agents=[{"name": "Anna"}, {"name": "anna"}]))


@pytest.mark.parametrize("role", [" ", "", "\u3164"])
def test_a_role_without_a_visible_name_is_refused(role: str) -> None:
    template = DomainTemplate(name="d", agents=[{"name": "Anna"}, {"name": "Ben", "roles": [role]}])
    with pytest.raises(InvalidInput, match="One of the roles has no name"):
        check_template(template)


def test_no_wire_model_takes_what_it_does_not_know() -> None:
    wire = [
        value
        for value in vars(schemas).values()
        if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel
    ]

    loose = {model.__name__ for model in wire if model.model_config.get("extra") != "forbid"}
    assert loose == {"Problem"}  # it is only ever given


def test_what_a_newer_version_has_written_is_read_and_what_a_person_sends_is_checked() -> None:
    newer = {"name": "finance", "colour": "blue", "limits": {"steps": 7, "patience": 3}}

    read = template_of(newer)

    assert (read.name, read.limits.steps) == ("finance", 7)
    assert Usage.read({"input_tokens": 5, "water_litres": 2}).input_tokens == 5
    assert Usage.read(b'{"output_tokens": 5, "water_litres": 2}').output_tokens == 5
    with pytest.raises(ValidationError):
        DomainTemplate.model_validate(newer)


@pytest.mark.parametrize(
    ("field", "largest"),
    [("tokens", 2**53 - 1), ("cost", 1e12), ("conversation_tokens", 2**53 - 1)],
)
def test_a_limit_has_a_largest_value_that_is_said_in_the_schema(field: str, largest: float) -> None:
    assert Limits.read({field: 10**30}) == Limits(**{field: largest})
    for beyond in (largest * 2, float("inf"), float("nan")):
        with pytest.raises(ValidationError):
            Limits.model_validate({field: beyond})
    said = Limits.model_json_schema()["properties"][field]["anyOf"][0]
    assert said["maximum"] == largest
