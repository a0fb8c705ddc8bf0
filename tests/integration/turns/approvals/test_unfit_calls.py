"""Nobody is asked about a call that its tool would refuse anyway."""

from collections.abc import Sequence
from typing import Any

import pytest

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import check_problem, check_views, make_domain, make_session, stop
from tests.integration.turns.approvals.post import Post, mail, rows_of
from tests.stack import Stack

ASKING = [{"approvals": {"rules": [{"tools": "*", "action": "ask"}]}}]


def test_a_call_that_does_not_fit_its_server_is_corrected_before_a_person_is_asked(
    post: Post,
) -> None:
    session_id = make_session(post.stack, post.domain)
    wrong, right = mail("ann", amount="much"), mail("ann", amount=5)
    said = script({"tools": [wrong]}, {"tools": [right]}, {"text": "sent"})

    turn = post.ask_in(session_id, said)

    (asked,) = rows_of(post.stack, turn, "interrupt")
    assert asked["content"]["arguments"] == right["args"]
    (refused,) = rows_of(post.stack, turn, "tool_result")
    assert "do not fit the tool's schema (amount: 'much' is not of type" in str(refused["content"])
    post.decide(turn, {"type": "approve"})
    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    assert post.calls() == [("mail_send", right["args"])]
    check_views(post.stack, session_id)


def test_only_the_fitting_calls_of_a_message_are_asked_about(post: Post) -> None:
    turn = post.ask(mail("ann", amount="much"), mail("sam"))

    (pending,) = post.pending(turn)
    assert pending["arguments"] == {"to": "sam"}
    post.decide(turn, {"type": "approve"})
    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    assert post.calls() == [("mail_send", {"to": "sam"})]
    check_views(post.stack, turn["session_id"])


def unfit(stack: Stack, name: str, rules: Sequence[JSON] = ASKING, **args: Any) -> str:
    """Return what the model reads of a call that nobody is asked about."""
    domain = make_domain(stack, tools=["get_budget"], middleware=["todos", *rules])
    session_id = make_session(stack, domain["name"])
    said = script({"tools": [{"name": name, "args": args}]}, {"text": "done"})
    turn = stack.finished(stack.submit(said, session_id)["turn_id"])
    assert turn["status"] == "succeeded"
    (refused,) = rows_of(stack, turn, "tool_result")
    return str(refused["content"]["content"])


def test_a_call_with_an_argument_that_its_tool_does_not_have_is_not_asked_about(
    stack: Stack,
) -> None:
    said = unfit(stack, "get_budget", cost_centre="CC-1001", currency="USD")

    assert "(currency: there is no such argument); the tool was not called" in said


@pytest.mark.parametrize("rules", [ASKING, []], ids=["asks", "runs"])
def test_what_is_wrong_with_a_call_of_thousands_of_faults_is_said_in_short(
    stack: Stack, rules: list[JSON]
) -> None:
    said = unfit(stack, "write_todos", rules, todos=[{"content": "x"}] * 3_000)

    assert "todos.0.status: Field required; todos.1.status" in said
    assert said.endswith("and 2,990 more); the tool was not called.")


def test_a_call_that_does_not_fit_a_built_in_tool_is_not_asked_about(stack: Stack) -> None:
    domain = make_domain(stack, tools=["query_source"], middleware=ASKING)
    session_id = make_session(stack, domain["name"])
    wrong = {"name": "query_source", "args": {"source": "fi"}}
    right = {"name": "query_source", "args": {"source": "fi", "sql": "SELECT 1"}}
    said = script({"tools": [wrong]}, {"tools": [right]}, {"text": "done"})

    turn_id = stack.submit(said, session_id)["turn_id"]
    turn = stack.wait_for(
        lambda: (now := stack.turn(turn_id))["status"] == "waiting" and now, "it does not wait"
    )

    (asked,) = rows_of(stack, turn, "interrupt")
    assert asked["content"]["arguments"] == right["args"]
    (refused,) = rows_of(stack, turn, "tool_result")
    assert "(sql: Field required)" in str(refused["content"])
    edited = {"name": "query_source", "args": {**right["args"], "limit": 5}}
    decisions = [{"type": "edit", "edited_action": edited}]
    answer = stack.client.post(f"/turns/{turn_id}/decisions", json={"decisions": decisions})
    assert "do not fit query_source: Additional properties" in check_problem(answer, 422)["detail"]
    stop(stack, turn_id)
