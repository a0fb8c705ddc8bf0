"""Recorded conversations, exported and imported elsewhere: nothing is lost, and agents go on."""

from collections.abc import Iterator

import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.imports.scenes import imported
from tests.replay.player import Replay
from tests.replay.recordings import Recording
from tests.replay.ways import WAYS, cases
from tests.stack import Servers, Stack

pytestmark = pytest.mark.timeout(900)
PLAYED = [way for way in WAYS if not way.loses_workers]
each_recording = pytest.mark.parametrize(
    ("replay", "recording"), cases(PLAYED), indirect=["replay"], scope="package"
)


@pytest.fixture(scope="package")
def elsewhere(
    replay: Replay,
    servers: Servers,
    replay_model: ScriptedModel,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    """An empty installation that has imported all that was played."""
    exported = export(replay.stack, *(one.session_id for one in replay.played.values()))
    with make_stack(servers, replay_model, tmp_path_factory.mktemp("elsewhere")) as running:
        report = imported(running, exported, "sessions.jsonl")
        assert report["counts"] == {"imported": len(replay.played)}, report["report"]
        yield running


def export(stack: Stack, *session_ids: str) -> bytes:
    answer = stack.client.get("/export", params={"session_id": list(session_ids)})
    assert answer.status_code == 200, answer.text
    return answer.content


@each_recording
def test_what_was_imported_is_exported_byte_for_byte(
    replay: Replay, elsewhere: Stack, recording: Recording
) -> None:
    session_id = replay.played[recording.name].session_id

    exported = export(replay.stack, session_id)

    assert exported.count(b"\n") > len(recording.said)
    assert export(elsewhere, session_id) == exported


@each_recording
def test_the_agent_goes_on_as_it_would_have(
    replay: Replay, elsewhere: Stack, replay_model: ScriptedModel, recording: Recording
) -> None:
    session_id = replay.played[recording.name].session_id
    sent: list[JSON] = []
    for stack in (replay.stack, elsewhere):
        replay_model.steps = script({"text": "It goes on."})
        stack.chat("Are you still there?", session_id)
        sent.append(replay_model.requests[-1])

    assert sent[0] == sent[1]
    assert sent[0]["messages"][-1]["content"] == "Are you still there?"
    assert len(sent[0]["messages"]) > len(recording.said)
