"""B8: how soon a turn whose worker was killed calls the model again, against RQ's own recovery.

A turn calls a tool that counts, then is interrupted by SIGKILL: during the model's text, or during
a second call of the tool. The measured time is from the kill to the claim of the next attempt and
to the arrival of its first request at the scripted model. In the end each call has run exactly
once.
"""

import os
import re
import signal
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from backend.types import JSON
from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from benchmarks.peers.rq_peer import rq_peer
from tests.chaos.staging.effects import Effects
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain
from tests.stack import Stack

KILLS, MANY_KILLS = 12, 100
LANGGRAPH = "LangGraph Server ≤ 120 s, according to its documentation"
FOR_LONG = 60.0  # longer than any recovery
PATIENCE = 900.0
CLAIMED = """
    SELECT extract(epoch FROM created_at) FROM display_messages
    WHERE turn_id = :turn AND content_type = 'notice'
"""


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    kills = MANY_KILLS if is_long else KILLS
    with ExitStack() as parts:
        effects = parts.enter_context(Effects())
        model = parts.enter_context(ScriptedModel(_Script()))
        scene = parts.enter_context(_scene(ground, model, effects))
        times = [scene.kill_in_a_turn(run) for run in range(kills)]
    calls = sorted(ran.key for ran in effects.ran)
    assert calls == sorted(key for run in range(kills) for key in _keys(run)), calls
    claims, requests = zip(*times, strict=True)
    peer = _rq_waits(ground, is_long)
    yield Figure(
        "B8",
        "SIGKILL to the next attempt's model request, p50",
        f"{_spread(requests)}; claimed after {_spread(claims)}",
        peer,
        statistics.median(requests),
        Target(15, 1, " s"),
    )
    yield Figure(
        "B8",
        f"the same, worst of {kills}; {len(calls)} tool calls, each run once",
        f"{number(max(requests))} s",
        LANGGRAPH,
        max(requests),
        Target(15, 5, " s"),
    )


class _Scene:
    """Two workers, one of which is repeatedly killed and replaced."""

    def __init__(self, stack: Stack, model: ScriptedModel, effects: Effects) -> None:
        self._stack, self._model, self._effects = stack, model, effects
        url = effects.server.template
        self._domain = make_domain(stack, tools=[], mcp_servers={"effects": url})["name"]

    def kill_in_a_turn(self, run: int) -> tuple[float, float]:
        """Return the seconds from a kill to the next attempt's claim and first model request."""
        stack, keys = self._stack, _keys(run)
        turn = stack.submit(f"run {run}", self._session())
        stack.wait_for(lambda: self._effects.count(keys[-1]), "no call was made")
        if len(keys) == 1:
            stack.wait_for(lambda: self._model.open_streams, "the model does not speak")
        self._model.clear()
        worker, killed_at, now = self._kill_worker_of(turn["turn_id"])
        stack.wait_for(lambda: self._model.started_at, "no worker continues")
        requested = self._model.started_at[0] - now
        ended = stack.finished(turn["turn_id"])
        assert (ended["status"], ended["attempts"]) == ("succeeded", 2), ended
        claimed = float(stack.query(CLAIMED, turn=turn["turn_id"])[0][0])
        self._replace(worker)
        return claimed - killed_at, requested

    def _session(self) -> str:
        made = self._stack.client.post("/sessions", json={"domain": self._domain})
        return str(made.json()["id"])

    def _kill_worker_of(self, turn_id: str) -> tuple[int, float, float]:
        found = self._stack.query("SELECT worker FROM turns WHERE id = :turn", turn=turn_id)
        pid = int(found[0][0].split(".")[-2])
        killed = time.time(), time.monotonic()
        os.killpg(pid, signal.SIGKILL)
        return pid, *killed

    def _replace(self, pid: int) -> None:
        """Start a worker in place of the killed one, and wait until it is ready."""
        stack = self._stack
        dead = next(worker for worker in stack.workers if worker.pid == pid)
        dead.wait()
        stack.workers.remove(dead)
        new = stack.start_worker()
        stack.wait_for(lambda: _is_there(stack, new.pid), "the new worker does not start")


@contextmanager
def _scene(ground: Ground, model: ScriptedModel, effects: Effects) -> Iterator[_Scene]:
    environment = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "test", "MODEL": "scripted"}
    database, folder = ground.new_database(), Path(ground.home)
    with Stack(database, ground.redis_url, folder, **environment) as stack:
        second = stack.start_worker()
        stack.wait_for(lambda: _is_there(stack, second.pid), "there is no second worker")
        yield _Scene(stack, model, effects)


def _is_there(stack: Stack, pid: int) -> bool:
    workers = stack.client.get("/work").json()["workers"]
    return any(f".{pid}." in worker["name"] for worker in workers)


def _keys(run: int) -> list[str]:
    """Return the calls of a run; in every second run another call is in flight at the kill."""
    return [f"{run} done", f"{run} in flight"] if run % 2 else [f"{run} done"]


class _Script:
    """One call; then a second slow call, or slow text; after the kill, text without delay."""

    def __init__(self) -> None:
        self._asked: Counter[tuple[int, int]] = Counter()

    def __call__(self, messages: list[JSON], _: JSON) -> JSON:
        last = max(place for place, said in enumerate(messages) if said["role"] == "user")
        run = int(re.findall(r"run (\d+)", str(messages[last]["content"]))[0])
        given = sum(message["role"] == "assistant" for message in messages[last:])
        self._asked[run, given] += 1
        keys = _keys(run)
        if given == 0:
            return {"tools": [{"name": "act", "args": {"key": keys[0]}}]}
        if given == 1 and len(keys) > 1:
            return {"tools": [{"name": "act", "args": {"key": keys[1], "seconds": FOR_LONG}}]}
        if given == 1 and self._asked[run, given] == 1:
            return {"text": "word " * 1_000, "delay": FOR_LONG / 1_000}
        return {"text": "done"}


def _spread(seconds: tuple[float, ...]) -> str:
    return f"{number(statistics.median(seconds))} s (to {number(max(seconds))})"


def _rq_waits(ground: Ground, is_long: bool) -> str:
    """Return what RQ's defaults do in this case; only the long form waits for it."""
    with (
        ScriptedModel([{"text": "late", "wait": FOR_LONG}]) as model,
        rq_peer(ground.redis_url) as peer,
    ):
        first = peer.start_worker()
        peer.ask(model.url)
        _wait(lambda: model.started_at)
        peer.start_worker()
        model.clear()
        peer.kill(first)
        abandoned, killed = peer.abandoned_after(), time.monotonic()
        if is_long:
            _wait(lambda: model.started_at)
            return f"RQ {number(model.started_at[0] - killed)} s"
        found = peer.looks_every()
    return (
        f"RQ {found:.0f} s, computed: abandoned after {number(abandoned)} s by the score in its"
        f" registry, which a worker checks every {found:.0f} s by its intervals"
    )


def _wait(is_so: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)
