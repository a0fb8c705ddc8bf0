"""The finance team through faults: its story ends as without them, and nothing is done twice."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from backend.types import JSON
from tests.integration.plans.story import SECONDS, proceed, propose, tasks_of, whole_story
from tests.integration.scenes import stop
from tests.processes import Process
from tests.stack import Servers, Stack

KILLED_AT = "artifact.made"  # the artifact is stored, and nobody has recorded that


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a failpoint's file says that it has fired, or is not to fire."""
    folder = tmp_path_factory.mktemp("points")
    (folder / KILLED_AT).touch()
    return folder


@pytest.fixture(scope="module")
def team(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory, points: Path
) -> Iterator[Stack]:
    """The demo model on two workers whose loss is soon noticed."""
    stack = Stack(
        servers.new_database(),
        servers.new_redis(),
        tmp_path_factory.mktemp("team"),
        OPENAI_API_KEY="",
        LEASE_SECONDS="2",
        SWEEP_SECONDS="0.3",
        FAILPOINTS=f"{KILLED_AT}=kill",
        FAILPOINTS_DIR=str(points),
    )
    stack.environment.pop("OPENAI_BASE_URL", None)
    stack.start_demo_model()
    with stack as running:
        running.start_worker()
        yield running


@pytest.fixture(scope="module")
def undisturbed(team: Stack) -> JSON:
    """The story as it is told when nothing happens."""
    session_id = propose(team)
    assert team.finished(proceed(team, session_id), SECONDS)["status"] == "succeeded"
    return whole_story(team, session_id)


@pytest.mark.chaos
def test_a_worker_and_the_api_are_killed_and_redis_forgets_all(
    team: Stack, points: Path, undisturbed: JSON
) -> None:
    session_id = propose(team)
    (points / KILLED_AT).unlink()
    turn_id = proceed(team, session_id)
    killed = team.wait_for(lambda: find_dead(team.workers), "no worker dies", SECONDS)
    team.workers.remove(killed)
    team.kill_api()
    with redis.Redis.from_url(team.redis_url) as client:
        client.flushall()
    (begun,) = team.query("SELECT status FROM turns WHERE id = :id", id=turn_id)
    team.start_api()

    turn = team.finished(turn_id, SECONDS)

    assert (turn["status"], turn["error"]) == ("succeeded", None)
    assert (killed.returncode, begun.status) == (-signal.SIGKILL, "waiting")
    assert team.turn(tasks_of(team, session_id)["t1"]["turn_id"])["attempts"] > 1
    assert whole_story(team, session_id) == undisturbed
    assert_is_done_once(team, session_id)


@pytest.mark.chaos
def test_the_story_is_stopped_in_its_middle_and_goes_on(team: Stack, undisturbed: JSON) -> None:
    session_id = propose(team)
    turn_id = proceed(team, session_id)
    team.wait_for(lambda: is_done(team, session_id, "t1"), "the first task does not end", SECONDS)
    with frozen(team.workers):
        assert stop(team, turn_id)["status"] == "stopped"
    team.wait_for(lambda: not is_running(team, session_id), "the tasks do not stop", SECONDS)
    (first, *others) = tasks_of(team, session_id).values()

    again = team.client.post(f"/turns/{turn_id}/retry")
    assert again.status_code == 202, again.text
    turn = team.finished(again.json()["id"], SECONDS)

    assert (first["status"], others[-1]["status"]) == ("succeeded", "stopped")
    assert (turn["status"], turn["error"]) == ("succeeded", None)
    assert ends(whole_story(team, session_id)) == ends(undisturbed)
    assert tasks_of(team, session_id)["t1"]["turn_id"] == first["turn_id"]


def ends(story: JSON) -> JSON:
    """What a story comes to: its artifacts, what each task gave, and the last word."""
    gave = {name: (*task[:3], task[-1]) for name, task in story["tasks"].items()}
    return {"artifacts": story["artifacts"], "tasks": gave, "said": story["said"][-1]}


def is_done(stack: Stack, session_id: str, name: str) -> bool:
    return bool(tasks_of(stack, session_id).get(name, {}).get("status") == "succeeded")


def is_running(stack: Stack, session_id: str) -> bool:
    return "running" in {task["status"] for task in tasks_of(stack, session_id).values()}


@contextmanager
def frozen(processes: Sequence[Process]) -> Iterator[None]:
    """Let nothing happen in these processes for the block."""
    for process in processes:
        os.killpg(process.pid, signal.SIGSTOP)
    yield
    for process in processes:
        os.killpg(process.pid, signal.SIGCONT)


def find_dead(workers: list[Process]) -> Process | None:
    """A process that has ended, though nobody has told it to."""
    return next((one for one in workers if one.poll() is not None), None)


def assert_is_done_once(stack: Stack, session_id: str) -> None:
    """Each task has one session with one turn, and no turn has failed."""
    tasks = tasks_of(stack, session_id)
    turns = stack.query(
        "SELECT t.conversation_id, t.status FROM turns t"
        " JOIN conversations c ON c.id = t.conversation_id WHERE c.parent_id = :id",
        id=session_id,
    )
    assert sorted(str(row[0]) for row in turns) == sorted(t["session_id"] for t in tasks.values())
    assert {row[1] for row in turns} == {"succeeded"}
