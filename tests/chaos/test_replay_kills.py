"""Recorded conversations stay exact when the worker is killed at every one of their boundaries.

Each recording is played several times: the
n-th time every turn loses one worker before and one behind its n-th batch of tool calls.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.conftest import RunRecord
from tests.chaos.reviving import reviving
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.replay.player import Played, play
from tests.replay.recordings import Recording, read_corpus
from tests.replay.synthetic import SYNTHETIC
from tests.stack import Servers, Stack

JSON = dict[str, Any]
BEFORE_TOOLS, BEHIND_TOOLS = "S9", "S11"
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
