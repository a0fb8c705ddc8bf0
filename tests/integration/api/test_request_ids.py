"""One id leads from a proxy through the pages and the API to the worker's turn, and to errors."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from backend.logs.fields import as_known_here, known, only_fields
from backend.types import JSON
from backend.web.request_ids import HEADER
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import check_problem, make_session, tool_domain
from tests.stack import Servers, Stack


@pytest.fixture(scope="module")
def desk(servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory):
    home = tmp_path_factory.mktemp("desk")
    with make_stack(servers, model, home, LOG_FORMAT="json") as running:
        yield running


@pytest.fixture(scope="module")
def pages(desk: Stack) -> str:
    return f"{desk.start_ui('--log-format=json')}/colloquy/api"


def test_an_error_names_the_request_that_the_proxy_named(desk: Stack, pages: str) -> None:
    for base in (pages, f"{desk.base_url}/api/v1"):
        answer = httpx.get(f"{base}/sessions/{uuid4()}", headers={HEADER: "edge-17"})

        assert check_problem(answer, 404)["request_id"] == "edge-17"
        assert answer.headers[HEADER] == "edge-17"


def test_a_refusal_before_the_api_and_an_unnamed_request_have_an_id(desk: Stack) -> None:
    refused = httpx.get(f"{desk.base_url}/api/v1/sessions", headers={"Host": "evil.example"})
    unnamed = desk.client.get(f"/sessions/{uuid4()}")

    for answer, status in ((refused, 421), (unnamed, 404)):
        assert check_problem(answer, status)["request_id"] == answer.headers[HEADER]
    assert refused.headers[HEADER] != unnamed.headers[HEADER]


def test_the_id_leads_to_the_turn_and_the_turn_to_what_its_worker_says(
    desk: Stack, pages: str
) -> None:
    headers = {HEADER: "edge-18", "Origin": pages.removesuffix("/colloquy/api")}
    with tool_domain(desk, lambda *_: "here", "look") as (domain, _):
        session = make_session(desk, domain["name"])

    # Its tool server has ended.
    url, body = f"{pages}/sessions/{session}/chat", {"message": script({"text": "sorry"})}
    answer = httpx.post(url, json=body, headers=headers, timeout=60)

    turn = answer.json()["turn_id"]
    of_request = [one for one in records(desk) if one.get("request") == "edge-18"]
    assert [(one["process"], one["message"], one["turn"]) for one in of_request] == [
        ("api", "turn accepted", turn),
        ("worker", "tool server lost", turn),
    ]
    user = desk.client.get("/server").json()["user"]
    assert {(one["session"], one["person"]) for one in of_request} == {(session, user)}


def test_the_id_leads_to_the_tasks_of_a_plan(desk: Stack, model: ScriptedModel) -> None:
    team = Team(desk, model)
    calls = plan(task("t1"), task("t2", "t1"))
    session = make_session(desk, team.domain)
    team.calls = [calls]

    asked = desk.submit("go", session, **{HEADER: "edge-19"})

    assert desk.finished(asked["turn_id"])["status"] == "succeeded"
    turns = [one["turn_id"] for one in team.tasks(session).values()]
    found = desk.query("SELECT request FROM turns WHERE id = ANY(CAST(:ids AS uuid[]))", ids=turns)
    assert found == [({"id": "edge-19"},)] * 2


def test_a_turn_that_goes_on_elsewhere_still_has_the_id(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    (fired := tmp_path / "fired").mkdir()
    armed = {"FAILPOINTS": "step.after_save=kill", "FAILPOINTS_DIR": str(fired)}
    with make_stack(servers, model, tmp_path, LOG_FORMAT="json", **armed) as stack:
        stack.start_worker()
        with tool_domain(stack, lambda *_: "here", "look") as (domain, _):
            session = make_session(stack, domain["name"])

        # Its tool server has ended, which each attempt says.
        calls = script({"tools": [{"name": "look"}]}, {"text": "sorry"})
        asked = stack.submit(calls, session, **{HEADER: "edge-20"})
        turn = stack.finished(asked["turn_id"])

        said = [one for one in records(stack) if one["message"] == "tool server lost"]
    assert (turn["status"], turn["attempts"], turn["losses"]) == ("succeeded", 2, 1)
    assert len({one["instance"] for one in said}) == 2
    assert {(one["turn"], one["request"]) for one in said} == {(turn["id"], "edge-20")}


def test_what_is_said_in_another_thread_has_the_fields_of_who_asked() -> None:
    with ThreadPoolExecutor(1) as threads, only_fields(turn="t", request="r"):
        there = threads.submit(as_known_here(known)).result()
        elsewhere = threads.submit(known).result()

    assert (there, elsewhere) == ({"turn": "t", "request": "r"}, {})


def records(stack: Stack) -> list[JSON]:
    """All that the processes have said: each line is an object of JSON."""
    lines = Path(stack.log).read_text().splitlines()
    # Before it logs, a part that tests fork is warned of that.
    return [json.loads(line) for line in lines if not line.startswith("<frozen runpy>")]
