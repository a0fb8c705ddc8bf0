"""Plans that people decide on: one that cannot run is refused to whoever wrote it."""

import httpx
import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.plans.team import AGENTS, Team, plan, task
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack

CALLS_ASK = {"approvals": {"rules": [{"tools": "run_plan", "action": "ask"}]}}
FAULTY: dict[str, tuple[list[JSON], str]] = {
    "a circle": ([task("t1", "t2"), task("t2", "t1")], "in a circle: t1 → t2 → t1"),
    "an unknown agent": ([task("t1", agent="Nobody")], "The agents are: Analyst, Writer."),
    "an unknown task": ([task("t1", "t7")], "depends on t7, but there is no such task"),
    "one name twice": ([task("t1"), task("t1")], "Several tasks have the tempId t1."),
}


@pytest.fixture
def team(stack: Stack, model: ScriptedModel) -> Team:
    """A team whose manager asks people before it delegates."""
    team = Team(stack, model)
    team.domain = make_domain(
        stack,
        agents=[{"name": name, "tools": []} for name in AGENTS],
        manager={"name": "Sage"},
        middleware=[CALLS_ASK],
    )["name"]
    return team


def asked(stack: Stack, team: Team) -> str:
    """Let the manager ask for a plan that can run; give the turn that waits."""
    turn_id: str = team.ask(plan(task("t1")), session_id=make_session(stack, team.domain))[
        "turn_id"
    ]
    stack.wait_for(lambda: stack.turn(turn_id)["status"] == "waiting", "nobody is asked")
    return turn_id


def decide(stack: Stack, turn_id: str, *tasks: JSON) -> httpx.Response:
    edited = {"type": "edit", "edited_action": {"args": plan(*tasks)["args"]}}
    return stack.client.post(f"/turns/{turn_id}/decisions", json={"decisions": [edited]})


@pytest.mark.parametrize("name", FAULTY)
def test_an_edited_plan_that_cannot_run_is_refused_to_the_person_and_changes_nothing(
    stack: Stack, team: Team, name: str
) -> None:
    tasks, reason = FAULTY[name]
    turn_id = asked(stack, team)

    problem = check_problem(decide(stack, turn_id, *tasks), 422)

    assert reason in problem["detail"]
    assert stack.turn(turn_id)["status"] == "waiting"
    assert decide(stack, turn_id, task("t2", agent="writer")).status_code == 200
    assert stack.finished(turn_id)["status"] == "succeeded"
    assert team.asked == {"t2": 1}


def test_the_reasons_against_a_plan_are_no_longer_than_a_person_reads(
    stack: Stack, team: Team
) -> None:
    lost = task("t1", *(f"no{number}" for number in range(2_000)))

    problem = check_problem(decide(stack, turn_id := asked(stack, team), lost), 422)

    assert "depends on no0" in problem["detail"] and problem["detail"].endswith("…")
    assert len(problem["detail"]) < 1_000
    stack.client.post(f"/turns/{turn_id}/stop")


@pytest.mark.parametrize("name", FAULTY)
def test_nobody_is_asked_about_a_plan_that_cannot_run(stack: Stack, team: Team, name: str) -> None:
    tasks, reason = FAULTY[name]
    session_id = make_session(stack, team.domain)

    turn = team.ask(plan(*tasks), session_id=session_id)

    assert stack.finished(turn["turn_id"])["status"] == "succeeded"
    assert reason in team.results[-1]
    kinds = [row["content_type"] for row in stack.messages(session_id)]
    assert "interrupt" not in kinds
