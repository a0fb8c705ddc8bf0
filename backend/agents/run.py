"""Run one turn's agent and translate what it does into a closed union of events.

One task holds the whole run (tool servers, agent, graph) and hands its events to an outbox. It
waits there until a step is saved: nothing of the next one has begun by then.
"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from backend.agents.factory import Agent, AgentRecipe, open_agent
from backend.agents.loops import check_loops
from backend.agents.restore import TOOLS_NODE, restore
from backend.agents.steps.events import (
    AnswerReset,
    ApprovalRequest,
    ModelAsked,
    ModelWaiting,
    Outbox,
    StepFinished,
    TextDelta,
    ThinkingDelta,
    ToolProgress,
)
from backend.agents.steps.progress import Progress, each_update
from backend.errors import StepLimitReached, TimeLimitReached
from backend.llm.events import Delta, ModelCall, ModelEvent, Reset
from backend.schemas.domains import Limits
from backend.schemas.wire import JSON
from db.failpoints import failpoint

INTERRUPT = "__interrupt__"  # LangGraph's name for the update that brings interrupts
NO_RECURSION_LIMIT = 10_000_000


async def run_agent(recipe: AgentRecipe, state: JSON, outbox: Outbox) -> None:
    """Run the agent from the state to the end of the turn; hand over to the outbox what happens.

    Where calls wait for people, `Interrupted` is last; the next run goes on with their answers.

    The state ends with a person's message, with calls that have no result yet (only these run),
    or with results; with a finished one nothing happens. Nothing goes on before a step is saved.
    Cancelling the task stops everything at once.

    Raises what the outbox and the journal raise, else AppErrors only: ModelUnavailable,
    IncompleteAnswer, SecretMissing, StepLimitReached, TimeLimitReached, EndlessLoop,
    ConfigurationError.
    """
    progress, limits = Progress(state), recipe.image.limits
    if progress.is_finished:
        return
    try:
        with tracing_context(enabled=False):
            async with (
                asyncio.timeout(limits.turn_seconds) as limit,
                open_agent(
                    recipe,
                    partial(_put_of_model, outbox, progress),
                    progress.take_report,
                    lambda call_id, said: outbox.put(ToolProgress(call_id, said)),
                ) as agent,
            ):
                progress.use(agent.reducers, agent.codecs)
                progress.tell(agent.notices)
                await _drive(agent, progress, limits, outbox)
    except TimeoutError as error:
        if limit.expired():
            raise TimeLimitReached(
                f"The turn took longer than {limits.turn_seconds} seconds, which is its limit."
            ) from error
        raise


def _put_of_model(outbox: Outbox, progress: Progress, event: ModelEvent) -> None:
    """Hand over what the model tells."""
    if isinstance(event, Delta):
        if event.thinking:
            outbox.put(ThinkingDelta(event.message_id, event.thinking))
        if event.text:
            outbox.put(TextDelta(event.message_id, event.text))
    elif isinstance(event, ModelCall):
        outbox.put(ModelAsked(event, progress.find_stored(event.messages)))
    elif isinstance(event, Reset):
        outbox.put(AnswerReset(event.message_id, event.reason))
    else:
        outbox.put(ModelWaiting(event.seconds, event.reason))


async def _drive(agent: Agent, progress: Progress, limits: Limits, outbox: Outbox) -> None:
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
                if step := _advance(agent, progress, outbox, node, values):
                    await outbox.step(step)
                    _check_limits(progress, limits)
    if asked:
        await outbox.step(progress.interrupt(asked))
    elif step := progress.finish_rest():
        await outbox.step(step)


def _advance(
    agent: Agent, progress: Progress, outbox: Outbox, node: str, values: Mapping[str, Any]
) -> StepFinished | None:
    if node == TOOLS_NODE:
        for finished in progress.take_results(values):
            outbox.put(finished)
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
