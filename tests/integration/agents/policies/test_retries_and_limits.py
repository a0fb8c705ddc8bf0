"""Only what is harmless is tried again, another model may answer, and limits end a turn."""

import json
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware

from backend.agents.steps.events import AnswerReset, ModelWaiting, TextDelta
from backend.errors.models import ModelUnavailable
from backend.errors.turns import CallLimitReached
from backend.types import JSON
from tests.fakes import ScriptedModel, find_disorder
from tests.integration.agents.policies.states import CALL, later, results, said
from tests.runs import asking, final_state, run, steps
from tests.servers.tool import ToolServer, tool


# The failure must reach the policy as an exception, as a dropped connection does; MCP tools give
# what a server says as a result, so that the failing ones are made here.
class Flaky(AgentMiddleware[Any, Any]):
    """Fails before the tool runs, as a broken connection does."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left, self.tries = times, 0

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.tries += 1
        self.left -= 1
        if self.left >= 0:
            raise ConnectionError("broken")
        return await handler(request)


@pytest.mark.parametrize(
    ("annotations", "tries", "status"),
    [({"readOnlyHint": True}, 2, None), ({"idempotentHint": True}, 2, None), ({}, 1, "error")],
)
def test_only_what_is_harmless_is_called_again(
    named: Any, annotations: JSON, tries: int, status: str | None
) -> None:
    flaky = Flaky(1)
    named(flaky=flaky)
    policies = [{"tool_retry": {"retries": 3, "seconds": 0}}, "flaky"]
    with (
        ToolServer([tool("look", **annotations)], lambda name, args: "here") as server,
        ScriptedModel([{"tools": [CALL]}, {"text": "done"}]) as model,
    ):
        image = {"mcp_servers": {"s": server.template}, "middleware": policies}
        state = final_state(run(model.url, asking("go"), **image))

    assert flaky.tries == tries
    assert results(state)[0].get("status") == status


def test_the_model_is_asked_again_after_its_patience_and_people_see_the_wait() -> None:
    answers = iter([{"status": 503}] * 3 + [{"text": "here"}])
    policy = {"model_retry": {"retries": 1, "seconds": 0.01}}
    with ScriptedModel(lambda messages, body: next(answers)) as model:
        events = run(model.url, asking("go"), middleware=[policy])

    assert said(final_state(events)) == "here"
    waits = [event for event in events if isinstance(event, ModelWaiting)]
    assert waits[-1].seconds == 0.01
    assert "status 503" in waits[-1].reason


def test_a_wrong_key_is_not_tried_again() -> None:
    policy = {"model_retry": {"retries": 3, "seconds": 0.01}}
    with ScriptedModel([{"status": 401}]) as model:
        with pytest.raises(ModelUnavailable, match="refused the API key"):
            run(model.url, asking("go"), middleware=[policy])

        assert len(model.requests) == 1


def test_another_model_answers_in_its_place_and_a_person_is_told() -> None:
    def answer(messages: list[JSON], body: JSON) -> JSON:
        return {"text": "I am here."} if body["model"] == "spare" else {"status": 404}

    policy = {"model_fallback": {"models": ["broken", "spare"]}}
    with ScriptedModel(answer) as model:
        events = run(model.url, asking("go"), middleware=[policy])

    (step,) = steps(events)
    assert said(step.state) == "I am here."
    assert "".join(e.text for e in events if hasattr(e, "text")) == "I am here."
    (notice,) = step.notices
    assert "model gpt-4o did not" in notice and "model broken did not" in notice
    assert "spare answers" in notice


@pytest.mark.parametrize(
    "policy",
    [
        {"model_retry": {"retries": 1, "seconds": 0.01}},
        {"model_fallback": {"models": ["spare"]}},
    ],
)
def test_what_was_shown_of_an_answer_that_another_one_replaces_is_taken_back(policy: JSON) -> None:
    answers = iter([{"text": "half an", "cut": True}] * 3 + [{"text": "here"}])
    with ScriptedModel(lambda messages, body: next(answers)) as model:
        events = run(model.url, asking("go"), middleware=[policy])

    shown = {event.message_id for event in events if isinstance(event, TextDelta)}
    void = [event.message_id for event in events if isinstance(event, AnswerReset)]
    (step,) = steps(events)
    assert len(void) == 3
    assert shown - set(void) == {step.messages[0]["id"]}


def endless(messages: list[JSON], body: JSON) -> JSON:
    return {"tools": [{"name": "look", "args": {"n": len(messages)}}]}


@pytest.mark.parametrize(
    ("limit", "asked"),
    [({"turn": 3}, "3 times"), ({"session": 2}, "2 times"), ({"turn": 1}, "1 time ")],
)
def test_a_limit_of_model_calls_ends_the_turn(looking: Any, limit: JSON, asked: str) -> None:
    image = {"mcp_servers": {"s": looking.template}, "middleware": [{"model_call_limit": limit}]}
    with ScriptedModel(endless) as model:
        with pytest.raises(CallLimitReached, match=f"asked its model {asked}"):
            run(model.url, asking("go"), **image)

        assert len(model.requests) == int(asked[0])


def test_the_limit_of_a_turn_begins_anew_but_not_for_an_attempt_that_takes_over(
    looking: Any,
) -> None:
    policy = [{"model_call_limit": {"turn": 2}}]
    image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
    with ScriptedModel([{"tools": [CALL]}, {"text": "done"}]) as model:
        first = run(model.url, asking("go"), **image)
        again = run(model.url, later(final_state(first), "more"), **image)
        assert said(final_state(again)) == "done"
        taken_over = json.loads(json.dumps(steps(first)[1].state))  # the batch was saved
        model.steps = endless
        model.clear()
        with pytest.raises(CallLimitReached):
            run(model.url, taken_over, **image)

        assert len(model.requests) == 1


def test_calls_beyond_the_limit_get_an_error_and_the_agent_answers(looking: Any) -> None:
    policy = [{"tool_call_limit": {"tool": "look", "turn": 2}}]
    three = {"tools": [{"name": "look", "args": {"n": n}} for n in range(3)]}
    with ScriptedModel([three, {"tools": [CALL]}, {"text": "with what I have"}]) as model:
        image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
        events = run(model.url, asking("go"), **image)

        assert all(find_disorder(messages) is None for messages in model.messages)
    state = final_state(events)
    assert [m.get("status") for m in results(state)] == ["error", None, None, "error"]
    outcomes = [m.get("additional_kwargs", {}).get("outcome") for m in results(state)]
    assert outcomes == ["limited", None, None, "limited"]
    assert [len(step.messages) for step in steps(events)] == [2, 2, 2, 1]
    assert said(state) == "with what I have"
    assert state["run_tool_call_count"] == {"look": 4}


def test_a_limit_of_tool_calls_may_end_the_turn(looking: Any) -> None:
    policy = [{"tool_call_limit": {"turn": 2, "then": "end"}}]
    image = {"mcp_servers": {"s": looking.template}, "middleware": policy}
    said = "called its tools 2 times in this turn"
    with ScriptedModel(endless) as model, pytest.raises(CallLimitReached, match=said):
        run(model.url, asking("go"), **image)
    assert len(looking.calls) == 2


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (
            {"turn": 1},
            "called its tools 0 times in this turn and requested more than its limit of 1",
        ),
        ({"session": 2, "tool": "look"}, "called look 0 times in this session"),
    ],
)
def test_calls_that_did_not_run_are_not_reported_as_made(
    looking: Any, limit: JSON, said: str
) -> None:
    image = {
        "mcp_servers": {"s": looking.template},
        "middleware": [{"tool_call_limit": {**limit, "then": "end"}}],
    }
    three = {"tools": [{"name": "look", "args": {"n": n}} for n in range(3)]}
    with ScriptedModel([three]) as model, pytest.raises(CallLimitReached, match=said):
        run(model.url, asking("go"), **image)
    assert looking.calls == []
