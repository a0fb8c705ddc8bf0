"""A session goes on at an endpoint that is strict in everything, whatever has happened in it."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.integration.conversations.test_inspection_calls import check_all
from tests.integration.scenes import Gate, make_domain, make_session, stop, texts, tool_domain
from tests.servers.strict import STRICTNESSES, StrictModel
from tests.stack import Servers, Stack

LOOKS: JSON = {"tools": [{"name": "look", "args": {}, "id": "call_1"}]}
TOLD = "refused a request in its usual form"


@pytest.fixture(scope="module")
def strict_model() -> Iterator[StrictModel]:
    with StrictModel() as running:
        yield running


@pytest.fixture(scope="module")
def strict_stack(
    servers: Servers, strict_model: StrictModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    with make_stack(servers, strict_model, tmp_path_factory.mktemp("strict")) as running:
        yield running


@pytest.fixture
def endpoint(strict_model: StrictModel) -> StrictModel:
    """The endpoint, not strict yet."""
    strict_model.clear()
    strict_model.strict = ()
    return strict_model


def _new_session(stack: Stack) -> str:
    # A model that the worker knows nothing of yet.
    return make_session(stack, make_domain(stack, model=f"strict-{uuid4().hex[:8]}")["name"])


def stopped_in_a_tool(stack: Stack, endpoint: StrictModel) -> str:
    gate = Gate()
    model = f"strict-{uuid4().hex[:8]}"
    with tool_domain(stack, gate.answer, "look", model=model) as (domain, server):
        session_id = make_session(stack, domain["name"])
        endpoint.steps = [LOOKS]
        turn_id = stack.submit("look at it", session_id)["turn_id"]
        stack.wait_for(lambda: server.calls, "the tool is not called")
        stop(stack, turn_id)
        assert stack.finished(turn_id)["status"] == "stopped"
        gate.is_open = True
    return session_id


def stopped_before_a_word(stack: Stack, endpoint: StrictModel) -> str:
    session_id = _new_session(stack)
    endpoint.steps = [{"wait": 20, "text": "late"}]
    turn_id = stack.submit("say it", session_id)["turn_id"]
    stack.wait_for(lambda: endpoint.requests, "the model is not asked")
    stop(stack, turn_id)
    assert stack.finished(turn_id)["status"] == "stopped"
    return session_id


def failed(stack: Stack, endpoint: StrictModel) -> str:
    session_id = _new_session(stack)
    endpoint.steps = [{"status": 400, "text": "not now"}]
    turn_id = stack.submit("say it", session_id)["turn_id"]
    assert stack.finished(turn_id)["status"] == "failed"
    return session_id


def edited_after_a_failure(stack: Stack, endpoint: StrictModel) -> str:
    session_id = failed(stack, endpoint)
    turn_id = stack.submit("say more", session_id)["turn_id"]
    assert stack.finished(turn_id)["status"] == "failed"
    edited = stack.client.post(f"/turns/{turn_id}/edit", json={"message": "say less"})
    assert edited.status_code == 202, edited.text
    assert stack.finished(edited.json()["id"])["status"] == "failed"
    return session_id


PASTS = [stopped_in_a_tool, stopped_before_a_word, failed, edited_after_a_failure]


@pytest.mark.parametrize("past", PASTS, ids=lambda past: past.__name__)
def test_a_session_goes_on_and_says_what_was_repaired(
    strict_stack: Stack,
    endpoint: StrictModel,
    past: Callable[[Stack, StrictModel], str],
) -> None:
    session_id = past(strict_stack, endpoint)
    endpoint.strict, endpoint.steps = STRICTNESSES, lambda *_: {"text": "Here I am."}

    answers = [strict_stack.chat(text, session_id) for text in ("next", "and then")]

    assert [answer["response"] for answer in answers] == ["Here I am."] * 2
    assert len(set(endpoint.refused)) == len(endpoint.refused) > 0
    rows = strict_stack.messages(session_id)
    notices = [row["content"]["text"] for row in rows if row["content_type"] == "notice"]
    assert len([notice for notice in notices if TOLD in notice]) == 1
    assert texts(rows, "user")[-2:] == ["next", "and then"]
    check_all(strict_stack, session_id, endpoint.requests)


def test_the_domain_as_it_is_installed_is_accepted(
    strict_stack: Stack, endpoint: StrictModel
) -> None:
    endpoint.strict, endpoint.steps = STRICTNESSES, lambda *_: {"text": "Hello."}

    answer = strict_stack.chat("hello")

    assert answer["response"] == "Hello."
    assert len(set(endpoint.refused)) == len(endpoint.refused)
