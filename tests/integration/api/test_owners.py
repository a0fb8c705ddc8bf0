"""What belongs to one owner is not there for another, through whatever route they ask."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.auth.scope import Scope
from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.artifacts.scenes import desk, make
from tests.integration.callers import api_for
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import check_problem
from tests.stack import Stack

# What an operation that names something of an owner needs beside it: without, it would be refused
# before anybody looks whose that is. A new one that needs more is to be added here.
BODIES: dict[str, JSON] = {
    "POST /sessions/{session_id}/chat": {"message": "hello"},
    "PATCH /sessions/{session_id}": {"title": "theirs now"},
    "POST /sessions/{session_id}/branch": {"turn_id": "{turn_id}"},
    "POST /sessions/{session_id}/continue": {},
    "POST /sessions/{session_id}/query": {"source": "fi", "sql": "SELECT 1"},
    "POST /turns/{turn_id}/decisions": {"decisions": [{"type": "approve"}]},
    "POST /turns/{turn_id}/edit": {"message": "hello"},
    "POST /turns/{turn_id}/feedback": {"rating": "up"},
    "POST /tasks/{task_id}/decision": {"decision": "stop"},
    "PUT /sessions/{session_id}/grants": {"principal_type": "everyone"},
    "PUT /sessions/{session_id}/state": {"version": 1, "messages": []},
}
QUERIES: dict[str, JSON] = {
    "GET /artifacts/{artifact_id}/diff": {"before": 1, "after": 1},
    "GET /artifacts/{artifact_id}/versions/{version}/download": {"format": "md"},
    "GET /sessions/{session_id}/usage/turns": {"ids": "{turn_id}"},
    "GET /search": {"q": "work"},
    "DELETE /sessions/{session_id}/grants": {"principal_type": "everyone"},
}
OF_CHARTS = "GET /artifacts/{artifact_id}/versions/{version}/table"  # the owner has a document
OF_REVIEWERS = "POST /sessions/{session_id}/reviews"  # who is none is told so, whatever they name
PLACEHOLDER = re.compile(r"\{(\w+)\}")


@pytest.fixture
def stranger(stack: Stack, tmp_path: Any) -> Iterator[TestClient]:
    """The API over the same database, asked by a member who owns nothing."""
    with api_for(stack, tmp_path, Scope("stranger")) as client:
        yield client


@pytest.fixture
def owned(stack: Stack, model: ScriptedModel) -> JSON:
    """One of each thing that belongs to the sessions of the local user, by the name in paths."""
    session_id = desk(stack)
    artifact = make(stack, session_id, "document", content="work of the owner")
    team = Team(stack, model)
    turn = team.ask(plan(task("t1")))
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    (only,) = team.plans(turn["session_id"])
    (done,) = only["tasks"]
    return {
        "session_id": turn["session_id"],
        "turn_id": turn["turn_id"],
        "plan_id": only["id"],
        "task_id": done["id"],
        "artifact_id": artifact["artifact_id"],
        "session of artifact": session_id,
        "session of task": done["session_id"],
        "turn of task": done["turn_id"],
    }


def test_nobody_else_finds_a_session_its_turns_tasks_and_artifacts_by_any_route(
    stack: Stack, stranger: TestClient, owned: JSON
) -> None:
    of_task = owned | {"session_id": owned["session of task"], "turn_id": owned["turn of task"]}
    before = everything(stack, owned)

    asked = 0
    for operation in operations(stranger):
        named = set(PLACEHOLDER.findall(operation)) & owned.keys()
        if not named or operation == OF_REVIEWERS:
            continue
        for things in (owned, of_task):
            asked += 1
            answer = ask(stranger, operation, things)
            assert answer.status_code == 404, (operation, answer.text)
            check_problem(answer, 404)
            if is_readable(operation):
                found = 422 if operation == OF_CHARTS else 200
                assert ask(stack.client, operation, things).status_code == found, operation

    assert asked > 60
    assert everything(stack, owned) == before


def test_what_is_listed_is_ones_own(stranger: TestClient, owned: JSON) -> None:
    lists = [one for one in operations(stranger) if one.startswith("GET") and "{" not in one]

    for operation in lists:
        text = ask(stranger, operation, owned).text
        assert [name for name, value in owned.items() if value in text] == [], operation

    assert len(lists) > 10


def operations(client: TestClient) -> list[str]:
    """Each operation of the API, as `METHOD /path`."""
    paths = client.get("http://127.0.0.1/api/openapi.json").json()["paths"]
    return [
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in paths.items()
        for method in methods
    ]


def is_readable(operation: str) -> bool:
    """Whether its owner gets an answer that ends."""
    named = {*PLACEHOLDER.findall(operation)} <= {"session_id", "turn_id", "artifact_id", "version"}
    return operation.startswith("GET") and named and not operation.endswith("/events")


def ask(client: TestClient, operation: str, things: JSON) -> Any:
    method, _, path = operation.partition(" ")
    values = {"version": 1, "number": 1, **things}
    filled = PLACEHOLDER.sub(lambda name: str(values.get(name[1], things["turn_id"])), path)
    body, query = ({k: _fill(v, values) for k, v in given.items()} if given is not None else None
                   for given in (BODIES.get(operation), QUERIES.get(operation)))  # fmt: skip
    return client.request(method, filled, json=body, params=query)


def _fill(value: Any, values: JSON) -> Any:
    return values[value[1:-1]] if str(value)[1:-1] in values else value


def everything(stack: Stack, owned: JSON) -> list[Any]:
    """What its owner sees of all that."""
    get = stack.client.get
    sessions = [value for name, value in owned.items() if name.startswith("session")]
    return [
        *(get(f"/sessions/{each}").json() for each in sessions),
        *(stack.messages(each) for each in sessions),
        get(f"/sessions/{owned['session_id']}/tasks").json(),
        get(f"/artifacts/{owned['artifact_id']}/versions/1").json(),
    ]
