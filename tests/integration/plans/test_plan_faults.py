"""Plans through faults: workers that are killed, a Redis that forgets, and a graph of 200 tasks."""

from itertools import pairwise
from pathlib import Path

import pytest
import redis

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.integration.scenes import check_views
from tests.stack import Servers, Stack

WIDE, ROWS = 50, 4
QUICK = {"LEASE_SECONDS": "2", "SWEEP_SECONDS": "0.3"}


@pytest.mark.chaos
@pytest.mark.parametrize(
    "failpoint",
    [
        "plan.started",  # after the plan is stored, before anybody is told of its tasks
        "plan.moved",  # after a task has ended, before what follows is told
        "approval.requested",  # while the turn begins to wait
        "close.before_commit",  # of whichever turn ends first
    ],
)
def test_a_plan_outlives_a_worker_that_dies_and_no_task_is_done_twice(
    servers: Servers, model: ScriptedModel, tmp_path: Path, failpoint: str
) -> None:
    once = {"FAILPOINTS": f"{failpoint}=kill", "FAILPOINTS_DIR": str(tmp_path / "points")}
    (tmp_path / "points").mkdir()
    with make_stack(servers, model, tmp_path, **once, **QUICK) as stack:
        stack.start_worker()
        team = Team(stack, model)
        turn = team.ask(plan(task("t1"), task("t2"), task("t3", "t1", "t2")))

        ended = stack.finished(turn["turn_id"], seconds=200)

        assert (ended["status"], ended["error"]) == ("succeeded", None)
        tasks = team.tasks(turn["session_id"])
        assert {one["status"] for one in tasks.values()} == {"succeeded"}
        check_is_done_once(stack, team, turn["session_id"])


def test_a_worker_is_killed_while_tasks_run_and_redis_forgets_them(
    own_stack: Stack, model: ScriptedModel
) -> None:
    is_slow = True

    def reply(temp_id: str) -> JSON:
        return {"text": f"did {temp_id}", "wait": 3 if is_slow else 0}

    own_stack.start_worker()
    team = Team(own_stack, model, reply)
    turn = team.ask(plan(*(task(f"t{n}") for n in range(6)), task("end", "t0", "t5")))
    own_stack.wait_for(lambda: team.asked.total() >= 6, "the tasks do not run")
    is_slow = False
    own_stack.kill_worker(0)
    redis.Redis.from_url(own_stack.redis_url).flushall()

    ended = own_stack.finished(turn["turn_id"], seconds=200)

    assert ended["status"] == "succeeded"
    assert [one["output"]["text"] for one in team.result()["tasks"]] == [
        *(f"did t{n}" for n in range(6)),
        "did end",
    ]
    check_is_done_once(own_stack, team, turn["session_id"])


@pytest.mark.chaos
@pytest.mark.timeout(600)  # of a busy machine; else it takes half a minute
def test_a_graph_of_200_tasks_50_wide_runs_within_the_limits_of_one_person(
    stack: Stack, model: ScriptedModel
) -> None:
    team = Team(stack, model)
    rows = [[f"r{row}n{n}" for n in range(WIDE)] for row in range(ROWS)]
    tasks = [task(name) for name in rows[0]]
    for before, row in pairwise(rows):
        tasks += [task(name, before[n], before[n - 1]) for n, name in enumerate(row)]
    turn = team.ask(plan(*tasks))

    ended = stack.finished(turn["turn_id"], seconds=500)

    assert (ended["status"], ended["error"]) == ("succeeded", None)
    assert set(team.statuses(turn["session_id"]).values()) == {"succeeded"}
    assert set(team.asked.values()) == {1}
    assert len(team.result()["tasks"]) == WIDE * ROWS


def check_is_done_once(stack: Stack, team: Team, session_id: str) -> None:
    """Each task has one session with one turn, whose answer stands there once."""
    tasks = team.tasks(session_id)
    sessions = stack.query("SELECT 1 FROM conversations WHERE parent_id = :id", id=session_id)
    assert len(sessions) == len(tasks)
    for name, one in tasks.items():
        assert one["tries"] == 1
        turns = stack.query("SELECT 1 FROM turns WHERE conversation_id = :id", id=one["session_id"])
        assert len(turns) == 1
        _, state = check_views(stack, one["session_id"])
        answers = [m["content"] for m in state["messages"] if m["role"] == "assistant"]
        assert answers == [f"did {name}"]
    check_views(stack, session_id)
