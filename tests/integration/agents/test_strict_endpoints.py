"""Every history, policy and bundled agent is accepted by strict endpoints, or after a repair."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.agents.steps.events import RunEvent, StepFinished
from backend.domains.catalog import FINANCE
from backend.domains.finance_team import FINANCE_TEAM
from backend.domains.team import everyone_in
from backend.errors.models import ModelUnavailable
from backend.schemas.domains.templates import DomainTemplate
from backend.types import JSON
from tests.runs import asking, collect, final_state, run, run_with
from tests.servers.strict import (
    STRICTNESSES,
    StrictModel,
    Strictness,
    few_tools,
    legal_names,
    taking_turns,
)
from tests.servers.tool import ToolServer, tool

ANSWER: JSON = {"text": json.dumps({"taskComplete": True, "message": "fine"})}
TOLD = "The endpoint of the model gpt-4o refused a request in its usual form."


def person(text: str) -> JSON:
    return {"role": "user", "content": text, "id": text}


def said(text: str, **fields: Any) -> JSON:
    return {"role": "assistant", "content": text, "id": f"said {text}", **fields}


def called(*calls: tuple[str, str], arguments: str = "{}") -> JSON:
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name in calls
    ]
    return {"role": "assistant", "content": None, "id": f"calls {calls}", "tool_calls": made}


def result(call_id: str, content: Any, message_id: str) -> JSON:
    return {"role": "tool", "content": content, "tool_call_id": call_id, "id": message_id}


THINKING_PARTS = {
    "for": "another provider",
    "message": {"reasoning_details": [{"type": "reasoning.text", "signature": "x"}]},
}
HISTORIES: dict[str, list[JSON]] = {
    "nothing": [],
    "stopped in a tool": [
        person("a"),
        called(("abcDEF123", "look")),
        result("abcDEF123", "x", "r"),
    ],
    "failed": [person("a"), person("b")],
    "failed after an answer": [person("a"), said("b"), person("c")],
    "ids of another provider": [
        person("a"),
        called(("toolu_01A09q90qw90lq917835lq9", "look"), ("call-2", "look")),
        result("toolu_01A09q90qw90lq917835lq9", "x", "r"),
        result("call-2", "y", "s"),
        said("b"),
    ],
    "ids that recur": [
        person("a"),
        called(("call_0", "look")),
        result("call_0", "x", "r"),
        called(("call_0", "look")),
        result("call_0", "y", "s"),
        said("b"),
    ],
    "illegal names": [
        person("a"),
        called(("a", "functions.look"), ("b", "look<|channel|>commentary")),
        result("a", "There is no tool functions.look here", "r"),
        result("b", "no", "s"),
        called(("c", " 看 " * 50)),
        result("c", "no", "t"),
        said("b"),
    ],
    "arguments that are no object": [
        person("a"),
        called(("a", "look"), arguments="[1]"),
        result("a", "x", "r"),
        called(("b", "look"), arguments=""),
        result("b", "x", "s"),
        said("b"),
    ],
    "empty results and answers": [
        person("a"),
        called(("a", "look")),
        result("a", " \n", "r"),
        said(""),
    ],
    "parts": [
        person("a"),
        called(("a", "look")),
        result("a", [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}], "r"),
        said("b"),
        called(("b", "look")),
        result("b", [{"type": "text", "text": "x"}, {"type": "image", "url": "u"}], "s"),
        said("c"),
    ],
    "fields of another provider": [
        person("a"),
        called(("a", "look")) | {"additional_kwargs": {"kept": THINKING_PARTS}},
        result("a", "x", "r"),
        said("b"),
    ],
    "several speakers": [
        person("a"),
        said("b", name="Jürgen Müller"),
        said("c", name="Sage"),
    ],
    "no beginning": [said("a"), person("b"), said("c")],
}
POLICIES: list[Any] = [
    {"approvals": {"rules": [{"tools": "x", "action": "ask"}]}},
    "todos",
    {"todos": {"prompt": "Plan."}},
    "filesystem",
    {"summarization": {"trigger_messages": 4, "trigger_tokens": 100, "keep_tokens": 50}},
    {"recent_messages": {"trigger": 3, "keep": 2}},
    {"context_editing": {"trigger_tokens": 1, "keep": 1}},
    "model_retry",
    {"model_fallback": {"models": ["other"]}},
    "tool_retry",
    {"model_call_limit": {"turn": 5}},
    {"tool_call_limit": {"turn": 5}},
]
LONG = [
    person("a"),
    called(("call_1", "look")),
    result("call_1", "", "r"),
    called(("call_1", "look")),
    result("call_1", "y", "s"),
    person("b"),
    person("c"),
    said("d"),
]
AGENTS = [
    (domain, agent.name) for domain in (FINANCE, FINANCE_TEAM) for agent in everyone_in(domain)
]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[StrictModel]:
    with StrictModel() as model:
        yield model


def answering(endpoint: StrictModel, *strict: Strictness) -> str:
    """Let the endpoint be this strict, and otherwise answer; give its address."""
    endpoint.clear()
    endpoint.strict, endpoint.steps = strict, lambda *_: ANSWER
    endpoint.speak = lambda words: {"status": 400, "text": words}
    return endpoint.url


def notices_of(events: list[RunEvent]) -> list[str]:
    steps = [event for event in events if isinstance(event, StepFinished)]
    return [notice for step in steps for notice in step.notices if notice.startswith(TOLD)]


def check_accepted(endpoint: StrictModel, events: list[RunEvent]) -> None:
    """The turn was answered; what was refused was repaired once, and told."""
    assert final_state(events)["messages"][-1]["content"] in ("fine", ANSWER["text"])
    assert len(set(endpoint.refused)) == len(endpoint.refused)
    assert len(notices_of(events)) == min(1, len(endpoint.refused))


@pytest.mark.parametrize("strict", STRICTNESSES, ids=lambda strict: strict.__name__)
def test_any_history_is_accepted_at_once_or_after_one_repair_that_is_told(
    endpoint: StrictModel, strict: Strictness
) -> None:
    url = answering(endpoint, strict)
    history = [
        message | {"id": f"{name} {message['id']}"}
        for name, messages in HISTORIES.items()
        for message in messages
    ]

    events = run(url, asking("go", *history), middleware=["todos", "filesystem"])

    check_accepted(endpoint, events)
    assert len(endpoint.refused) <= 1


@pytest.mark.parametrize("history", HISTORIES)
def test_each_history_is_accepted_by_an_endpoint_that_is_strict_in_everything(
    endpoint: StrictModel, history: str
) -> None:
    url = answering(endpoint, *STRICTNESSES)

    events = run(url, asking("go", *HISTORIES[history]))

    check_accepted(endpoint, events)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_each_policy_works_at_an_endpoint_that_is_strict_in_everything(
    endpoint: StrictModel, policy: Any
) -> None:
    url = answering(endpoint, *STRICTNESSES)

    events = run(url, asking("go", *LONG), middleware=[policy])

    check_accepted(endpoint, events)


@pytest.mark.parametrize(
    ("domain", "agent"), AGENTS, ids=lambda value: getattr(value, "name", value)
)
def test_each_bundled_agent_works_at_an_endpoint_that_is_strict_in_everything(
    endpoint: StrictModel, domain: DomainTemplate, agent: str
) -> None:
    url = answering(endpoint, *STRICTNESSES)

    events = run(url, asking("go", *LONG), agent=agent, **domain.model_dump())

    check_accepted(endpoint, events)


def test_what_an_endpoint_needs_is_known_from_then_on_and_told_once_in_a_session(
    endpoint: StrictModel,
) -> None:
    url = answering(endpoint, taking_turns)

    async def ask_three_times(recipe: Any) -> list[list[str]]:
        first = await collect(recipe, asking("go", *HISTORIES["failed"]))
        goes_on = final_state(first)
        goes_on["messages"] = [*goes_on["messages"], person("d"), person("e")]
        other = asking("go", *HISTORIES["failed"])
        return [notices_of(each) for each in (
            first, await collect(recipe, goes_on), await collect(recipe, other)
        )]  # fmt: skip

    told = run_with(url, ask_three_times)

    assert [len(notices) for notices in told] == [1, 0, 1]
    assert len(endpoint.refused) == 1
    assert len(endpoint.requests) == 4


SAYINGS: dict[str, Callable[[str], JSON]] = {
    "in the detail of a 422": lambda words: {
        "status": 422,
        "raw": json.dumps({"detail": [{"loc": ["body", "messages"], "msg": words}]}).encode(),
    },
    "as a failure of the chat template": lambda words: {
        "status": 500,
        "text": f"Error rendering prompt with jinja template: {words}",
    },
    "within an answer": lambda words: {
        "raw": f'data: {{"error": {{"message": "{words}", "code": 400}}}}\n\n'.encode()
    },
    "without a word": lambda _: {"raw": b"", "status": 400},
    "on a proxy's page": lambda _: {"raw": b"<html>400 Bad Request</html>", "status": 400},
}


@pytest.mark.parametrize("saying", SAYINGS)
def test_a_refusal_of_the_form_is_understood_however_it_is_said(
    endpoint: StrictModel, saying: str
) -> None:
    url = answering(endpoint, taking_turns)
    endpoint.speak = SAYINGS[saying]

    events = run(url, asking("go", *HISTORIES["failed"]))

    check_accepted(endpoint, events)
    assert len(endpoint.refused) == 1


@pytest.mark.parametrize(
    "words",
    ["Your message was flagged by our safety policy", "Insufficient balance", "It is too late"],
)
def test_a_refusal_for_another_reason_is_not_repaired(endpoint: StrictModel, words: str) -> None:
    url = answering(endpoint, lambda _: words)

    with pytest.raises(ModelUnavailable, match=words):
        run(url, asking("go", *LONG))

    assert len(endpoint.requests) == 1


def test_a_repair_that_does_not_help_is_made_once_and_forgotten(endpoint: StrictModel) -> None:
    url = answering(endpoint, lambda _: "Conversation roles must alternate")

    with pytest.raises(ModelUnavailable, match="roles must alternate"):
        run(url, asking("go", *LONG))
    refused = len(endpoint.refused)
    events = run(answering(endpoint), asking("go", *LONG))

    assert refused <= 3
    assert notices_of(events) == []


def test_tools_beyond_what_an_endpoint_takes_are_left_out_by_name(endpoint: StrictModel) -> None:
    url = answering(endpoint, few_tools)
    tools = [tool(f"look_{number}") for number in range(130)]

    with ToolServer(tools, lambda *_: "x") as server:
        events = run(url, asking("go"), mcp_servers={"s": server.template})

    check_accepted(endpoint, events)
    assert len(endpoint.requests[-1]["tools"]) == 128
    assert "Left out are look_128, look_129" in notices_of(events)[0]


@pytest.mark.parametrize(
    "name",
    [
        "functions.look",
        "default_api.look",
        "look<|channel|>commentary",
        "<|constrain|>look",
        " look\n",
        "functions.look:0",
        "tools/look",
    ],
)
def test_a_tool_that_is_called_by_an_illegal_name_is_reached(
    endpoint: StrictModel, name: str
) -> None:
    answering(endpoint, legal_names)
    call = {"tools": [{"name": name, "args": {"at": "it"}, "id": "a"}]}
    endpoint.steps = [call, ANSWER]

    with ToolServer([tool("look"), tool("commentary")], lambda *_: "seen") as server:
        events = run(endpoint.url, asking("go"), mcp_servers={"s": server.template})

    assert [call for call in server.calls if call[0] == "look"] == [("look", {"at": "it"})]
    made = final_state(events)["messages"][1]["tool_calls"][0]
    assert made["function"]["name"] == "look"
    assert endpoint.refused == []


def test_an_illegal_name_that_no_tool_is_meant_by_is_answered_and_sent_as_a_legal_one(
    endpoint: StrictModel,
) -> None:
    answering(endpoint)
    endpoint.steps = [{"tools": [{"name": "functions.nothing", "args": {}, "id": "a"}]}, ANSWER]

    run(endpoint.url, asking("go"))

    call, answer = endpoint.messages[-1][-2:]
    assert call["tool_calls"][0]["function"]["name"] == "functions_nothing"
    assert "There is no tool functions.nothing here" in answer["content"]
