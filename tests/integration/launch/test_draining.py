"""`colloquy drain` lets workers finish their turns, and returns when they have ended."""

import socket
import threading

from redis import Redis

from tests.fakes import ScriptedModel
from tests.stack import Stack

DRAIN = ("-m", "backend.operations.drain")


def turns_of(stack: Stack) -> dict[str, int]:
    """The workers by name, and how many turns each says that it has."""
    return {one["name"]: one["turns"] for one in stack.client.get("/work").json()["workers"]}


def test_one_worker_is_drained_by_name_and_finishes_its_turn(
    patient_stack: Stack, model: ScriptedModel
) -> None:
    stack, goes_on = patient_stack, threading.Event()
    model.steps = [{"text": "one two three", "until": goes_on}]
    turn = stack.submit("hello")["turn_id"]
    stack.wait_for(lambda: stack.turn(turn)["status"] == "running", "it does not run")
    (name,) = turns_of(stack)
    stack.start_worker()
    stack.wait_for(lambda: len(turns_of(stack)) == 2, "the other one does not come")
    stack.wait_for(lambda: turns_of(stack)[name] == 1, "it does not say that it has the turn")

    waited = stack.run(*DRAIN, name, "--seconds", "1")
    goes_on.set()
    drained = stack.run(*DRAIN, name)

    assert waited[0] == 1 and f"{name} finishes 1 turn\n" in waited[1]
    assert f"Still draining after 1 s: {name}" in waited[1]
    assert drained[0] == 0 and f"{name} ended\n" in drained[1]
    assert stack.workers[0].wait(timeout=10) == 0
    assert (stack.turn(turn)["status"], stack.turn(turn)["attempts"]) == ("succeeded", 1)
    assert stack.workers[1].poll() is None


def test_all_workers_of_this_host_are_drained_and_those_of_others_stay(own_stack: Stack) -> None:
    stack = own_stack
    other = "elsewhere.1.abcdef"
    told = f'{{"name": "{other}", "turns": 0, "capacity": 8, "is_draining": false}}'
    with Redis.from_url(stack.redis_url) as redis:
        redis.set(f"colloquy:worker:{other}", told, ex=600)
        stack.start_worker()
        stack.wait_for(lambda: len(turns_of(stack)) == 3, "the workers do not come")

        ended, said = stack.run(*DRAIN)

        assert ended == 0 and said.count(" ended\n") == 2
        assert [worker.wait(timeout=10) for worker in stack.workers] == [0, 0]
        assert not redis.exists(f"colloquy:drain:{other}")
    assert stack.run(*DRAIN) == (0, f"No worker runs on {socket.gethostname()}.\n")


def test_a_name_that_no_worker_has_is_refused_with_those_there_are(own_stack: Stack) -> None:
    (name,) = turns_of(own_stack)

    ended, said = own_stack.run(*DRAIN, "nobody")

    assert ended == 1
    assert said == f"There is no worker nobody. Alive are: {name}.\n"
    assert own_stack.workers[0].poll() is None
