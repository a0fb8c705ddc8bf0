"""Recorded conversations stay exact when workers are killed, by the clock and at each boundary.

By the clock: all recordings at once on two workers, one of which is killed every four seconds.
At the boundaries: each recording is played several times, and the n-th time every turn loses one
worker before and one behind its n-th batch of tool calls.
"""

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from mcp.types import CallToolResult

from backend.types import JSON
from tests.chaos.conftest import RunRecord
from tests.chaos.staging.reviving import reviving
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.replay.player import Played, play
from tests.replay.recordings import Recording, read_corpus
from tests.replay.synthetic import SYNTHETIC
from tests.servers.tool import ToolServer, text_result, tool
from tests.stack import Servers, Stack

KILL_SECONDS = 4.0
ANSWER_SECONDS = 0.4
BEFORE_TOOLS, BEHIND_TOOLS = "step.after_save", "results.after_save"
KEYS = ("role", "content", "tool_calls", "tool_call_id")


@dataclass(frozen=True)
class Deadly(Recording):
    """A recording whose model arms both boundaries of the n-th batch of each turn."""

    batch: int
    arm: Callable[[], None]

    def answer(self, messages: list[JSON], body: JSON) -> JSON:
        if len(messages) < len(self.messages) and self._is_deadly(len(messages)):
            self.arm()
        return super().answer(messages, body)

    def _is_deadly(self, place: int) -> bool:
        if not self.messages[place].get("tool_calls"):
            return False
        said = self.messages[:place]
        begun = max(n for n, message in enumerate(said) if message["role"] == "user")
        return sum(bool(message.get("tool_calls")) for message in said[begun:]) == self.batch


class Boundaries:
    """Failpoints that kill, each once when it was armed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.armed = 0
        folder.mkdir()
        for name in (BEFORE_TOOLS, BEHIND_TOOLS):
            (folder / name).touch()

    def arm(self) -> None:
        self.armed += 1
        for name in (BEFORE_TOOLS, BEHIND_TOOLS):
            (self._folder / name).unlink(missing_ok=True)

    @property
    def all_fired(self) -> bool:
        return all((self._folder / name).exists() for name in (BEFORE_TOOLS, BEHIND_TOOLS))


@pytest.fixture(scope="module")
def boundaries(tmp_path_factory: pytest.TempPathFactory) -> Boundaries:
    return Boundaries(tmp_path_factory.mktemp("boundaries") / "fired")


@pytest.fixture(scope="module")
def deadly_model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as running:
        yield running


@pytest.fixture(scope="module")
def deadly_stack(
    servers: Servers,
    deadly_model: ScriptedModel,
    boundaries: Boundaries,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    stack = make_stack(
        servers,
        deadly_model,
        tmp_path_factory.mktemp("deadly"),
        FAILPOINTS=f"{BEFORE_TOOLS}=kill,{BEHIND_TOOLS}=kill",
        FAILPOINTS_DIR=str(boundaries._folder),
    )
    with stack, reviving(stack):
        stack.start_worker()
        stack.start_worker()
        yield stack


@dataclass(frozen=True)
class Paced(Recording):
    """A recording whose model takes its time, so that workers are killed within its turns."""

    batches: list[JSON]

    def answer(self, messages: list[JSON], body: JSON) -> JSON:
        place = len(messages)
        if place < len(self.messages) and (calls := self.messages[place].get("tool_calls")):
            given = self.messages[place + 1 : place + 1 + len(calls)]
            self.batches[:] = [{"calls": calls, "results": given, "counts": Counter()}]
        return {**super().answer(messages, body), "wait": ANSWER_SECONDS}


class RepeatableTools:
    """Gives what was recorded for the batch that the model asked for last, however often."""

    def __init__(self, recording: Recording) -> None:
        assert isinstance(recording, Paced)
        self._batches = recording.batches
        tools = [tool(name, readOnlyHint=True) for name in recording.tool_names]
        self.server = ToolServer(tools, self.call)

    def call(self, name: str, arguments: JSON) -> CallToolResult:
        (batch,) = self._batches
        wanted = (name, json.dumps(arguments, sort_keys=True))
        given = [
            result["content"]
            for call, result in zip(batch["calls"], batch["results"], strict=True)
            if _called(call["function"]) == wanted
        ]
        batch["counts"][wanted] += 1
        return text_result(given[(batch["counts"][wanted] - 1) % len(given)])


@contextmanager
def killing(stack: Stack, kills: list[float]) -> Iterator[None]:
    """Kill one of the workers every four seconds while the block runs: who has lived for longer."""
    is_over = threading.Event()

    def kill() -> None:
        while not is_over.wait(KILL_SECONDS):
            alive = [worker for worker in list(stack.workers) if worker.poll() is None]
            if alive:
                os.kill(alive[0].pid, signal.SIGKILL)
                kills.append(time.monotonic())

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(timeout=60)


@pytest.mark.chaos
@pytest.mark.timeout(1_200)
def test_replay_is_exact_with_a_worker_of_two_killed_every_four_seconds(
    servers: Servers, deadly_model: ScriptedModel, tmp_path: Path, record: RunRecord
) -> None:
    paced = [Paced(one.name, one.messages, []) for one in RECORDINGS]
    kills: list[float] = []
    with make_stack(servers, deadly_model, tmp_path) as stack, reviving(stack):
        stack.start_worker()
        with (
            killing(stack, kills),
            play(stack, deadly_model, paced, lambda: None, (), RepeatableTools) as replay,
        ):
            turns = [turn for one in replay.played.values() for turn in one.turns]
        rows = stack.query("SELECT losses, error ->> 'title' AS reason FROM turns")
        lost, reasons = sum(row.losses for row in rows), {row.reason for row in rows}

        # The corpus has messages that were never answered: to those its model gives an error.
        assert turns.count("failed") == sum(map(_unanswered, RECORDINGS))
        assert set(turns) <= {"succeeded", "failed"} and "Worker lost" not in reasons
        assert len(kills) > 2 and lost
        for one in RECORDINGS:
            played = replay.played[one.name]
            asked = [request for request, _ in groupby(played.requests)]
            _check_exact(one, replace(played, requests=asked), stack)
    record.add(
        "Recorded conversations",
        f"- all {len(RECORDINGS)} at once, {len(turns)} turns: exact with {len(kills)} workers"
        f" killed, one every four seconds; {lost} times a turn lost its worker, none was given up",
    )


def _unanswered(recording: Recording) -> int:
    """How many messages of people are followed by another one at once."""
    roles = [message["role"] for message in recording.messages]
    return sum(pair == ("user", "user") for pair in pairwise(roles))


def _called(function: JSON) -> tuple[str, str]:
    return function["name"], json.dumps(json.loads(function["arguments"]), sort_keys=True)


RECORDINGS = [recording for recording in (*SYNTHETIC, *read_corpus()) if recording.tool_names]


@pytest.mark.chaos
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("recording", RECORDINGS, ids=[recording.name for recording in RECORDINGS])
def test_replay_is_exact_with_workers_killed_at_each_boundary(
    recording: Recording,
    deadly_stack: Stack,
    deadly_model: ScriptedModel,
    boundaries: Boundaries,
    record: RunRecord,
) -> None:
    before = boundaries.armed
    for batch in range(_most_batches(recording)):
        deadly = Deadly(recording.name, recording.messages, batch, boundaries.arm)

        with play(deadly_stack, deadly_model, [deadly], lambda: None) as replay:
            _check_exact(recording, replay.played[recording.name], deadly_stack)
            assert boundaries.all_fired

    kills = 2 * (boundaries.armed - before)
    record.add("Recorded conversations", f"- {recording.name}: exact with {kills} workers killed")


def _check_exact(recording: Recording, played: Played, stack: Stack) -> None:
    """What the model was sent, what people see and the state, each as it was recorded."""
    sent = [[_unnamed(message) for message in request] for request in played.requests]
    assert sent == [[_unnamed(message) for message in one] for one in recording.requests]
    rows = stack.messages(played.session_id)
    shown = [
        {key: row[key] for key in ("message_type", "content_type")} | row["content"]
        for row in rows
        if row["message_type"] != "system"
    ]
    assert shown == recording.rows
    state = stack.state(played.session_id)["messages"]
    expected = [{key: message.get(key) for key in KEYS} for message in recording.said]
    kept = [{key: message.get(key) for key in KEYS} for message in state]
    assert kept[: len(expected)] == expected


def _most_batches(recording: Recording) -> int:
    """How many batches of tool calls the turn with the most of them has."""
    most = current = 0
    for message in recording.messages:
        current = 0 if message["role"] == "user" else current + bool(message.get("tool_calls"))
        most = max(most, current)
    return most


def _unnamed(message: JSON) -> JSON:
    """A message without the name of its tool, which OpenAI's format does not ask for."""
    return {key: value for key, value in message.items() if key != "name"}
