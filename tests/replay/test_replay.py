"""Recorded conversations, replayed over the API: nothing is added, dropped or changed."""

import pytest

from backend.types import JSON
from tests.replay.player import Replay
from tests.replay.recordings import NOT_RECORDED, Recording
from tests.replay.ways import WAYS, cases

# The first test of each kind plays all recordings; a loaded machine takes minutes for it.
pytestmark = pytest.mark.timeout(900)
each_recording = pytest.mark.parametrize(
    ("replay", "recording"), cases(WAYS), indirect=["replay"], scope="package"
)


def unnamed(message: JSON) -> JSON:
    """A message without the name of its tool, which OpenAI's format does not ask for."""
    return {key: value for key, value in message.items() if key != "name"}


@each_recording
def test_model_is_sent_exactly_what_was_recorded(replay: Replay, recording: Recording) -> None:
    sent = replay.played[recording.name].requests

    assert len(sent) == len(recording.requests)
    for request, recorded in zip(sent, recording.requests, strict=True):
        assert list(map(unnamed, request)) == list(map(unnamed, recorded))
        for message, original in zip(request, recorded, strict=True):
            assert message.get("name") in (None, original.get("name"))


@each_recording
def test_people_see_exactly_what_was_recorded(replay: Replay, recording: Recording) -> None:
    rows = replay.rows(recording.name)

    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    spoken = [row for row in rows if row["message_type"] != "system"]
    shown = [
        {key: row[key] for key in ("message_type", "content_type")} | row["content"]
        for row in spoken
    ]
    assert shown == recording.rows
    assert {row["status"] for row in spoken} == {"completed"}
    for row in rows:
        assert row in spoken or NOT_RECORDED in str(row["content"]), row


@each_recording
def test_state_holds_exactly_what_was_recorded(replay: Replay, recording: Recording) -> None:
    played = replay.played[recording.name]

    state = replay.stack.state(played.session_id)["messages"]

    keys = ("role", "content", "tool_calls", "tool_call_id")
    expected = [{k: m.get(k) for k in keys} for m in recording.said]
    assert [{k: m.get(k) for k in keys} for m in state][: len(expected)] == expected
    assert len(state) == len(expected) + (recording.messages[-1]["role"] != "assistant")


@each_recording
def test_turns_end_as_recorded(replay: Replay, recording: Recording) -> None:
    said = [*recording.said, {"role": "nobody"}]
    twice = [
        said[place + 1]["role"] == "user"
        for place, message in enumerate(said)
        if message["role"] == "user"
    ]

    turns = replay.played[recording.name].turns

    assert turns == ["failed" if again else "succeeded" for again in twice]
