"""An agent's events reach its thread whole and in order; deltas come joined."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from backend.agents.events import RunEvent, StepFinished, TextDelta, ThinkingDelta
from backend.schemas import Usage
from backend.turns.feed import AgentFeed, AgentLoop

STEP = StepFinished((), {}, {}, Usage())


@pytest.fixture
def loop() -> Iterator[AgentLoop]:
    running = AgentLoop(threads=1)
    running.start()
    yield running
    running.close()


async def play(*events: RunEvent | float) -> AsyncIterator[RunEvent]:
    """The events; a number is a pause in seconds."""
    for event in events:
        if isinstance(event, float):
            await asyncio.sleep(event)
        else:
            yield event


def taken(loop: AgentLoop, *events: RunEvent | float) -> list[RunEvent]:
    with AgentFeed(loop, play(*events)) as feed:
        return list(feed)


def test_the_first_delta_is_not_kept_back_and_the_others_come_joined(loop: AgentLoop) -> None:
    said = [TextDelta("m", f"{number} ") for number in range(500)]

    first, *others = taken(loop, *said)

    assert first == said[0]
    assert "".join(event.text for event in (first, *others)) == "".join(d.text for d in said)
    assert len(others) < len(said) / 2


def test_nothing_is_lost_when_windows_close_while_more_comes(loop: AgentLoop) -> None:
    said = [TextDelta("m", f"{number} ") for number in range(60)]
    paced = [event for delta in said for event in (delta, 0.005)]

    events = taken(loop, *paced)

    assert "".join(event.text for event in events) == "".join(delta.text for delta in said)


def test_what_was_said_comes_before_what_follows_it(loop: AgentLoop) -> None:
    events = taken(
        loop,
        ThinkingDelta("m", "hm"),
        ThinkingDelta("m", "!"),
        TextDelta("m", "a"),
        TextDelta("m", "b"),
        STEP,
        TextDelta("n", "c"),
    )

    assert events == [
        ThinkingDelta("m", "hm"),
        ThinkingDelta("m", "!"),
        TextDelta("m", "a"),
        TextDelta("m", "b"),
        STEP,
        TextDelta("n", "c"),
    ]
