"""The way from the agents' loop to a turn's thread: its end is heard whenever it comes."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Iterator

import pytest

from backend.agents.events import RunEvent, TextDelta
from backend.turns.feed import AgentFeed, AgentLoop
from backend.turns.lease import TurnStopped

SECONDS = 5


@pytest.fixture
def loop() -> Iterator[AgentLoop]:
    running = AgentLoop(threads=1)
    running.start()
    yield running
    running.close()


async def talk() -> AsyncGenerator[RunEvent, None]:
    yield TextDelta("m", "a word")
    await asyncio.sleep(60)


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_turn_stopped_before_its_agent_has_begun_ends(loop: AgentLoop, is_busy: bool) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with AgentFeed(loop, talk()) as feed:
                feed.cancel(TurnStopped())
                for _ in feed:
                    pass
        except TurnStopped as error:
            raised.append(error)

    if is_busy:  # with other turns, so that the stop comes before the beginning
        loop.loop.call_soon_threadsafe(time.sleep, 0.1)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)

    assert len(raised) == 1
