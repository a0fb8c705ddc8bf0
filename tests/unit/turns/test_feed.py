"""An agent's events reach its thread whole and in order; deltas come joined."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from backend.agents.steps.events import RunEvent, StepFinished, TextDelta, ThinkingDelta
from backend.schemas.sessions import Usage
from backend.turns.process.agent_loop import AgentLoop
from backend.turns.run.lease import TurnStopped
from backend.turns.run.outbox import AgentFeed

SECONDS = 5
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


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_turn_stopped_before_its_agent_has_begun_ends(loop: AgentLoop, is_busy: bool) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with AgentFeed(loop, play(TextDelta("m", "a word"), 60.0)) as feed:
                feed.cancel(TurnStopped())
                list(feed)
        except TurnStopped as error:
            raised.append(error)

    if is_busy:  # with other turns, so that the stop comes before the beginning
        loop.loop.call_soon_threadsafe(time.sleep, 0.1)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)

    assert len(raised) == 1
