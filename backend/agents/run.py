"""Run one turn's agent and translate what it does into a closed union of events.

A task of its own holds the whole run (tool servers, agent, graph) and hands its events over one
by one. After a step it waits until the consumer asks for more: the consumer has saved the step by
then, and nothing of the next one has begun.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from backend.agents.factory import Agent, AgentRecipe, open_agent
from backend.agents.loops import check_loops
from backend.agents.restore import TOOLS_NODE, restore
from backend.agents.steps.events import (
    AnswerReset,
    ApprovalRequest,
    Interrupted,
    ModelAsked,
    ModelWaiting,
    RunEvent,
    StepFinished,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
)
from backend.agents.steps.progress import Progress, each_update
from backend.errors import StepLimitReached, TimeLimitReached
from backend.llm.events import Delta, ModelCall, ModelEvent, Reset
from backend.schemas.domains import Limits
from backend.schemas.wire import JSON
from db.failpoints import failpoint

__all__ = [
    "AgentRecipe",
    "AnswerReset",
    "Interrupted",
    "ModelAsked",
    "ModelWaiting",
    "RunEvent",
    "StepFinished",
    "TextDelta",
    "ThinkingDelta",
    "ToolFinished",
    "ToolProgress",
    "run_agent",
]

CLOSE_SECONDS = 2.0
INTERRUPT = "__interrupt__"  # LangGraph's name for the update that brings interrupts
NO_RECURSION_LIMIT = 10_000_000

logger = logging.getLogger(__name__)


async def run_agent(recipe: AgentRecipe, state: JSON) -> AsyncGenerator[RunEvent, None]:
    """Run the agent from the state to the end of the turn and yield what happens.

    Where calls wait for people, `Interrupted` is last; the next run goes on with their answers.

    The state ends with a person's message, with calls that have no result yet (only these run),
    or with results; a finished one yields nothing. Each step must be saved before the next event
    is pulled. Cancelling the task or closing the generator stops everything at once.

    Raises what the journal raises, else AppErrors only: ModelUnavailable, IncompleteAnswer,
    SecretMissing, StepLimitReached, TimeLimitReached, EndlessLoop, ConfigurationError.
    """
    progress = Progress(state)
    if progress.is_finished:
        return
    events = _Events(progress)
    run = asyncio.create_task(_run(recipe, progress, events))
    try:
        while (event := await events.take()) is not None:
            yield event
        await run
    finally:
        await _stop(run)


class _Events:
    """Hands events from the run to its consumer; a step is handed over only when it is saved."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._queue: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        self._saved = asyncio.Event()

    async def take(self) -> RunEvent | None:
        """Return the next event, None after the last; what was taken before is saved now."""
        if self._queue.empty():
            self._saved.set()
        return await self._queue.get()

    def put(self, event: RunEvent | None) -> None:
        self._queue.put_nowait(event)

    def put_of_model(self, event: ModelEvent) -> None:
        """Hand over what the model tells."""
        if isinstance(event, Delta):
            if event.thinking:
                self.put(ThinkingDelta(event.message_id, event.thinking))
            if event.text:
                self.put(TextDelta(event.message_id, event.text))
        elif isinstance(event, ModelCall):
            self.put(ModelAsked(event, self._progress.find_stored(event.messages)))
        elif isinstance(event, Reset):
            self.put(AnswerReset(event.message_id, event.reason))
        else:
            self.put(ModelWaiting(event.seconds, event.reason))

    def put_of_tool(self, call_id: str, said: str) -> None:
        """Hand over what a running tool says."""
        self.put(ToolProgress(call_id, said))

    async def put_step(self, step: StepFinished) -> None:
        """Hand the step over and wait until it is saved."""
        self._saved.clear()
        self.put(step)
        await self._saved.wait()


async def _run(recipe: AgentRecipe, progress: Progress, events: _Events) -> None:
    limits = recipe.image.limits
    try:
        with tracing_context(enabled=False):
            async with asyncio.timeout(limits.turn_seconds) as limit:
                reports = progress.take_report
                told = events.put_of_tool
                async with open_agent(recipe, events.put_of_model, reports, told) as agent:
                    progress.use(agent.reducers, agent.codecs)
                    progress.tell(agent.notices)
                    await _drive(agent, progress, limits, events)
    except TimeoutError as error:
        if limit.expired():
            raise TimeLimitReached(
                f"The turn took longer than {limits.turn_seconds} seconds, which is its limit."
            ) from error
        raise
    finally:
        events.put(None)


async def _drive(agent: Agent, progress: Progress, limits: Limits, events: _Events) -> None:
    _check_limits(progress, limits)
    config: RunnableConfig = {
        "configurable": {"thread_id": "turn"},
        "recursion_limit": NO_RECURSION_LIMIT,
    }
    start = await restore(agent.graph, config, progress.values, agent.model_step_end)
    failpoint("S6")
    asked: list[ApprovalRequest] = []
    updates = agent.graph.astream(start, config, stream_mode="updates", durability="exit")
    async with aclosing(updates):  # type: ignore[type-var]  # an async generator, typed as iterator
        async for update in updates:
            asked += (question.value for question in update.get(INTERRUPT, ()))
            for node, values in each_update(update):
                if step := _advance(agent, progress, events, node, values):
                    await events.put_step(step)
                    _check_limits(progress, limits)
    if asked:
        events.put(progress.interrupt(asked))
    elif step := progress.finish_rest():
        await events.put_step(step)


def _advance(
    agent: Agent, progress: Progress, events: _Events, node: str, values: Mapping[str, Any]
) -> StepFinished | None:
    if node == TOOLS_NODE:
        for finished in progress.take_results(values):
            events.put(finished)
        return progress.finish_batch()
    progress.take_update(values)
    if node == agent.model_step_end:
        step = progress.finish_model_step()
        return step and replace(step, asking=agent.calls_that_ask(step.messages))
    return progress.finish_own_call()


def _check_limits(progress: Progress, limits: Limits) -> None:
    check_loops(progress.state["messages"])
    if progress.steps >= limits.steps and not progress.is_finished:
        raise StepLimitReached(
            f"The agent made {progress.steps} steps, its limit, without coming to an answer. "
            "Ask for less, or raise the limit."
        )


async def _stop(run: asyncio.Task[None]) -> None:
    """Cancel the run and wait until it has let go; a tool that ignores it is left behind."""
    run.cancel()
    await asyncio.wait({run}, timeout=CLOSE_SECONDS)
    if not run.done():
        logger.warning("a tool ignores that its turn was stopped")
    elif not run.cancelled():
        run.exception()
