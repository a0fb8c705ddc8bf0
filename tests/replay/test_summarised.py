"""Recorded conversations with summaries on: the model reads less, people see all the same."""

from collections.abc import Iterator

import pytest

from tests.fakes import ScriptedModel, find_disorder
from tests.replay.player import Replay, play
from tests.replay.recordings import NOT_RECORDED, Recording
from tests.replay.ways import FEW, Way, cases, longest
from tests.stack import Stack

TRIGGER = 1_500
POLICY = {"summarization": {"trigger_tokens": TRIGGER, "keep_tokens": 500, "trigger_messages": 12}}
WAYS = (Way("a few", longest(FEW)), Way("many", longest(12), is_long=True))
each_recording = pytest.mark.parametrize(
    ("summarised", "recording"), cases(WAYS), indirect=["summarised"], scope="module"
)
each_way = pytest.mark.parametrize(
    "summarised",
    [pytest.param(way, id=way.name, marks=[pytest.mark.chaos] * way.is_long) for way in WAYS],
    indirect=True,
    scope="module",
)
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def summarised(
    request: pytest.FixtureRequest, replay_stack: Stack, replay_model: ScriptedModel
) -> Iterator[Replay]:
    recordings = request.param.recordings
    with play(replay_stack, replay_model, recordings, lambda: None, [POLICY]) as played:
        yield played


@each_recording
def test_people_see_exactly_what_was_recorded(summarised: Replay, recording: Recording) -> None:
    rows = summarised.rows(recording.name)

    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    spoken = [row for row in rows if row["message_type"] != "system"]
    shown = [
        {key: row[key] for key in ("message_type", "content_type")} | row["content"]
        for row in spoken
    ]
    assert shown == recording.rows
    notices = [row["content"].get("text", "") for row in rows if row["content_type"] == "notice"]
    told = sum("reads a summary" in notice for notice in notices)
    assert told == summarised.played[recording.name].summaries
    for row in rows:
        known = row in spoken or "reads a summary" in str(row["content"])
        assert known or NOT_RECORDED in str(row["content"]), row


@each_recording
def test_each_request_is_whole_and_ends_with_what_was_recorded(
    summarised: Replay, recording: Recording
) -> None:
    played = summarised.played[recording.name]

    assert len(played.requests) == len(recording.requests)
    for request, recorded in zip(played.requests, recording.requests, strict=True):
        assert find_disorder(request) is None
        assert request[-1]["content"] == recorded[-1]["content"]
        question = next(m["content"] for m in reversed(recorded) if m["role"] == "user")
        assert question in [m["content"] for m in request if m["role"] == "user"]


@each_way
def test_long_recordings_are_summarised(summarised: Replay) -> None:
    played = summarised.played.values()

    assert sum(one.summaries for one in played) >= len(played) // 2
    shorter = [
        len(one.requests[-1]) < len(one.recording.requests[-1]) for one in played if one.summaries
    ]
    assert all(shorter)
