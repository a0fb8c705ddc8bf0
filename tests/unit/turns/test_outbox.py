"""What an agent hands over reaches its thread whole and in order; steps are waited for."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from backend.agents.steps.events import Outbox, RunEvent, StepFinished, TextDelta, ThinkingDelta
from backend.errors.turns import LeaseLost
from backend.schemas.conversations.turns import Usage
from backend.turns.process.agent_loop import AgentLoop
from backend.turns.run.lease import TurnStopped
from backend.turns.run.outbox import Agent, TurnOutbox

SECONDS = 30
STEP = StepFinished((), {}, {}, Usage())


@pytest.fixture
def loop() -> Iterator[AgentLoop]:
    running = AgentLoop(threads=1)
    running.start()
    yield running
    running.close()


def play(*events: RunEvent | float) -> Agent:
    """An agent that hands these over; a number is a pause in seconds."""

    async def agent(outbox: Outbox) -> None:
        for event in events:
            if isinstance(event, float):
                await asyncio.sleep(event)
            elif isinstance(event, StepFinished):
                await outbox.step(event)
            else:
                outbox.put(event)

    return agent


def taken(loop: AgentLoop, *events: RunEvent | float) -> list[RunEvent]:
    recorded: list[RunEvent] = []
    with TurnOutbox(loop, play(*events)) as outbox:
        outbox.deliver(recorded.append)
    return recorded


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
    said = [
        ThinkingDelta("m", "hm"),
        ThinkingDelta("m", "!"),
        TextDelta("m", "a"),
        TextDelta("m", "b"),
        STEP,
        TextDelta("n", "c"),
    ]

    assert taken(loop, *said) == said


def test_the_agent_goes_on_when_the_thread_has_saved_its_step(loop: AgentLoop) -> None:
    happened: list[str] = []

    async def agent(outbox: Outbox) -> None:
        await outbox.step(STEP)
        happened.append("gone on")

    def save(event: RunEvent) -> None:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop.loop).result(SECONDS)
        happened.append("saved")

    with TurnOutbox(loop, agent) as outbox:
        outbox.deliver(save)

    assert happened == ["saved", "gone on"]


def test_what_saving_a_step_raises_ends_the_thread_and_the_agent(loop: AgentLoop) -> None:
    raised: list[BaseException] = []

    async def agent(outbox: Outbox) -> None:
        for _ in range(2):  # whoever does not heed the first gets no further
            try:
                await outbox.step(STEP)
            except LeaseLost as error:
                raised.append(error)

    def save(event: RunEvent) -> None:
        raise LeaseLost

    with pytest.raises(LeaseLost) as ended, TurnOutbox(loop, agent) as outbox:
        outbox.deliver(save)

    assert raised == [ended.value, ended.value]


def test_what_ends_the_agent_is_raised_in_its_thread_and_other_agents_go_on(
    loop: AgentLoop,
) -> None:
    async def agent(outbox: Outbox) -> None:
        outbox.put(TextDelta("m", "last words"))
        raise SystemExit(3)

    recorded: list[RunEvent] = []
    with pytest.raises(SystemExit), TurnOutbox(loop, agent) as outbox:
        outbox.deliver(recorded.append)

    assert recorded == [TextDelta("m", "last words")]
    assert taken(loop, STEP) == [STEP]


def test_what_was_said_before_a_stop_is_recorded(loop: AgentLoop) -> None:
    recorded: list[RunEvent] = []
    said = [TextDelta("m", word) for word in ("one", "two")]

    def record(event: RunEvent) -> None:
        recorded.append(event)
        outbox.cancel(TurnStopped())

    with pytest.raises(TurnStopped), TurnOutbox(loop, play(*said, 60.0)) as outbox:
        outbox.deliver(record)

    assert recorded == said


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_turn_stopped_before_its_agent_has_begun_ends(loop: AgentLoop, is_busy: bool) -> None:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with TurnOutbox(loop, play(TextDelta("m", "a word"), 60.0)) as outbox:
                outbox.cancel(TurnStopped())
                outbox.deliver(lambda event: None)
        except TurnStopped as error:
            raised.append(error)

    if is_busy:  # with other turns, so that the stop comes before the beginning
        loop.loop.call_soon_threadsafe(time.sleep, 0.1)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)

    assert len(raised) == 1
