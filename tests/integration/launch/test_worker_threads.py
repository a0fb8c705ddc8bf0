"""A worker process has a thread for each turn in hand, seen by RQ, and few that only wait."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from redis import Redis
from rq import Queue
from rq.registry import StartedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker import SimpleWorker

from backend.turns.process.turn_job import QUEUE
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.stack import Servers, Stack
from worker.threads import FEWEST_WAITING, MOST_WAITING

CAPACITY = 20
SLOW = script({"text": "one two three", "wait": 2.0})


@pytest.fixture
def small_stack(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    model.clear()
    with make_stack(servers, model, tmp_path, WORKER_TURNS=str(CAPACITY)) as running:
        yield running


def states(stack: Stack) -> list[str]:
    """The states of the workers that RQ knows, as `rq info` reads them."""
    with Redis.from_url(stack.redis_url) as redis:
        workers = SimpleWorker.all(connection=redis, serializer=JSONSerializer)
        return [worker.get_state() for worker in workers]


@pytest.mark.chaos
def test_few_wait_until_there_are_turns_and_few_wait_after_them(
    small_stack: Stack, model: ScriptedModel
) -> None:
    stack, goes_on = small_stack, Event()
    model.steps = [{"text": "one two three", "until": goes_on}]
    assert len(states(stack)) == FEWEST_WAITING

    turns = [stack.submit("hello") for _ in range(CAPACITY)]
    stack.wait_for(lambda: states(stack).count("busy") == CAPACITY, "not all turns are in hand")
    goes_on.set()
    ends = [stack.finished(turn["turn_id"])["status"] for turn in turns]

    assert ends == ["succeeded"] * CAPACITY
    stack.wait_for(lambda: len(states(stack)) <= MOST_WAITING, "those with nothing to do stay")
    assert stack.chat(script({"text": "still here"}))["response"] == "still here"


def test_turns_beyond_the_capacity_wait(small_stack: Stack, model: ScriptedModel) -> None:
    model.most_open_streams = 0
    turns = [small_stack.submit(SLOW) for _ in range(CAPACITY + 5)]

    ends = [small_stack.finished(turn["turn_id"])["status"] for turn in turns]

    assert ends == ["succeeded"] * len(turns)
    assert len(states(small_stack)) <= CAPACITY
    assert model.most_open_streams <= CAPACITY


def test_jobs_in_hand_are_listed_as_started(small_stack: Stack, model: ScriptedModel) -> None:
    goes_on = Event()
    model.steps = [{"text": "one two three", "until": goes_on}]
    turns = [small_stack.submit("hello") for _ in range(3)]

    with Redis.from_url(small_stack.redis_url) as redis:
        queue = Queue(QUEUE, connection=redis, serializer=JSONSerializer)
        started = StartedJobRegistry(queue=queue)
        small_stack.wait_for(lambda: started.count == len(turns), "RQ does not list the jobs")
        assert {turn["turn_id"] for turn in turns} == set(started.get_job_ids())
        goes_on.set()
        small_stack.wait_for(lambda: started.count == 0, "RQ lists jobs that have ended")


def test_a_turn_that_ends_well_leaves_no_line_of_rq_in_the_log(small_stack: Stack) -> None:
    small_stack.chat(script({"text": "fine"}))

    said = small_stack.log.read_text()
    assert "runs up to" in said and "rq.worker" not in said
