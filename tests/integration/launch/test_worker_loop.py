"""A worker whose agents stand still is told of, and ends, so that its turns go on elsewhere."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis

from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views
from tests.stack import Servers, Stack
from worker.watchdog import EXIT_CODE

BLOCKING = {"tools": [{"name": "blocks", "args": {}, "id": "call_1"}]}


@pytest.fixture
def two(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Stack]:
    """A stack whose first worker has tools that hold its loop up; leases outlast the test."""
    model.clear()
    model.steps = ()
    stack = make_stack(servers, model, tmp_path, LEASE_SECONDS="300")
    try:
        stack.start_api()
        yield stack
    finally:
        stack.__exit__()


def start_odd(stack: Stack, watchdog_seconds: float) -> None:
    stack.workers.append(stack.start("-m", "tests.servers.odd_worker", str(watchdog_seconds)))
    stack.wait_ready()


def ready(stack: Stack) -> httpx.Response:
    return httpx.get(f"{stack.base_url}/readyz")


def said_of_worker(stack: Stack, is_so: Callable[[httpx.Response], bool]) -> str:
    found = stack.wait_for(
        lambda: (answer := ready(stack)) and is_so(answer) and answer, "it is not told", 60
    )
    return found.json()["worker"]


@pytest.mark.chaos
def test_a_worker_that_stands_still_is_told_of_everywhere(two: Stack) -> None:
    start_odd(two, 600)
    assert ready(two).json()["worker"] == "ok"
    two.submit(script(BLOCKING))

    alone = said_of_worker(two, lambda answer: answer.status_code == 503)
    name = two.client.get("/work").json()["workers"][0]["name"]
    two.start_worker()
    beside = said_of_worker(two, lambda answer: answer.status_code == 200)

    assert alone.startswith("1 of 1 worker stalled; its turns wait") and name in alone
    assert beside.startswith("1 of 2 workers stalled; their turns wait") and name in beside
    workers = {one["name"]: one for one in two.client.get("/work").json()["workers"]}
    assert workers.pop(name)["loop_silence_seconds"] >= 10
    assert [one["loop_silence_seconds"] < 10 for one in workers.values()] == [True]
    assert two.client.get("/server").json()["ready"] is True
    (figure,) = (
        line
        for line in httpx.get(f"{two.base_url}/metrics").text.splitlines()
        if line.startswith("colloquy_worker_loop_silence_seconds")
    )
    assert float(figure.rpartition(" ")[2]) >= 10
    assert two.chat(script({"text": "served meanwhile"}))["response"] == "served meanwhile"


@pytest.mark.chaos
@pytest.mark.parametrize(
    ("name", "exit_code", "words"),
    [
        ("blocks", EXIT_CODE, "in blocks\n    time.sleep(60)"),
        ("keeps_lock", 1, "Timeout (0:00:04)!"),
    ],
)
def test_a_worker_held_up_by_a_tool_ends_and_its_turn_goes_on_elsewhere(
    two: Stack, name: str, exit_code: int, words: str
) -> None:
    start_odd(two, 2)
    turn = two.submit(script({"tools": [{"name": name, "args": {}, "id": "c"}]}, {"text": "done"}))
    two.wait_for(lambda: two.turn(turn["turn_id"])["steps"], "it does not begin")
    two.start_worker()

    ended = two.finished(turn["turn_id"], seconds=90)

    assert (ended["status"], ended["losses"]) == ("succeeded", 1)
    assert two.workers[0].wait(timeout=10) == exit_code
    assert words in two.log.read_text()
    check_views(two, turn["session_id"])


def test_a_worker_whose_main_thread_stands_still_ends(two: Stack) -> None:
    start_odd(two, 2)

    os.kill(two.workers[0].pid, signal.SIGUSR1)

    assert two.workers[0].wait(timeout=60) == EXIT_CODE
    assert "The main thread was blocked" in two.log.read_text()


def test_garbage_in_redis_is_no_worker_and_no_event(two: Stack) -> None:
    session_id = two.client.post("/sessions", json={}).json()["id"]
    with Redis.from_url(two.redis_url) as redis:
        odd = {"turns": -1, "capacity": "many", "is_draining": 0, "name": "odd"}
        redis.set("colloquy:worker:garbage", b"\xff{", ex=60)
        redis.set("colloquy:worker:large", b'{"name":"' + b"x" * 5_000_000, ex=60)
        redis.hset("colloquy:worker:hash", mapping=odd)
        redis.set(b"colloquy:worker:\xff", "{}", ex=60)
        assert ready(two).status_code == 503
        assert "no live worker" in ready(two).json()["worker"]
        two.start_worker()
        two.wait_ready()

        redis.rpush("colloquy:servers:questions", b"\xff", "[]", '{"id": 1}', "{" * 100_000)
        for body in (b"\xff", b"[]", b'{"event": "text_delta"}', b'{"event": "x", "data": {}}'):
            redis.xadd(f"colloquy:events:{session_id}", {"e": body})
            redis.xadd(f"colloquy:events:{session_id}", {"other": body})
            redis.publish(f"colloquy:live:{session_id}", b"1-1 " + body)
            redis.publish(f"colloquy:live:{session_id}", body)
        redis.publish(b"colloquy:live:\xff", b"\xff")

        with two.events(session_id) as events:
            turn = two.submit(script({"text": "still here"}), session_id)
            last = next(event for event in events if event["event"] == "turn_finished")

    assert last["data"]["turn"]["id"] == turn["turn_id"]
    assert two.client.get("/work").json()["workers"][0]["capacity"] == 8
    assert "Traceback" not in two.log.read_text()
