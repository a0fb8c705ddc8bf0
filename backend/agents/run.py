"""Running one turn's agent and translating what it does into a closed union of events.

One task holds the whole run (tool servers, agent, graph) and hands its events to an outbox. It
waits there until each step is saved: nothing of the next one begins before.
"""

import asyncio
import itertools
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from backend.agents.factory import Agent, AgentRecipe, Tools, build_agent, open_tools
from backend.agents.loops import check_loops
from backend.agents.routing import decide_route, find_hand_over
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
from backend.agents.steps.progress import Progress
from backend.errors.models import ConversationTooLong
from backend.errors.turns import ResponseRefused, StepLimitReached, TimeLimitReached
from backend.llm.events import Delta, ModelCall, ModelEvent, Reset, Reshaped
from backend.schemas.conversations.turns import RouteReason
from backend.schemas.domains.templates import Limits
from backend.text import counted
from backend.tools.plans import PlanWait
from backend.types import JSON
from colloquy_kit.runtime.growing import codecs_of, each_update, reducers_of
from colloquy_kit.runtime.restore import TOOLS_NODE, restore
from db.failpoints import failpoint

INTERRUPT = "__interrupt__"  # LangGraph's name for the update that brings interrupts
MOST_HAND_OVERS = 5
NO_RECURSION_LIMIT = 10_000_000
REPLACED = "Another answer comes in its place"
RESHAPED = (
    "The endpoint of the model {model} refused a request in its usual form. In this session, it"
    " gets another one: {changes}. What is stored has not changed."
)


async def run_agent(recipe: AgentRecipe, state: JSON, outbox: Outbox) -> None:
    """Run the agent from the state to the end of the turn; hand its events to the outbox.

    If calls wait for people or for tasks, `Interrupted` comes last; the next run continues with
    their answers.

    The state ends with a person's message, with calls that have no result yet (only these run),
    or with results; with a finished one nothing happens. Nothing continues before a step is saved.
    Cancelling the task stops everything immediately.

    Raise what the outbox and the journal raise, otherwise only AppErrors: ModelUnavailable,
    IncompleteAnswer, SecretMissing, StepLimitReached, TimeLimitReached, EndlessLoop,
    ConfigurationError.
    """
    limits = recipe.image.limits
    run = _Run(outbox, Progress(state, recipe.steps), limits)
    if run.progress.is_finished and find_hand_over(recipe, state) is None:
        return
    try:
        with tracing_context(enabled=False):
            async with asyncio.timeout(limits.turn_seconds) as limit:
                recipe = await run.route(recipe)
                async with open_tools(recipe, run.tell_of_tool) as tools:
                    await run.work(recipe, tools)
    except TimeoutError as error:
        if limit.expired():
            raise TimeLimitReached(
                f"The turn took longer than {limits.turn_seconds} seconds, which is its limit."
            ) from error
        raise


class _Run:
    """One run, which sends events of its model, tools and graph to the outbox."""

    def __init__(self, outbox: Outbox, progress: Progress, limits: Limits) -> None:
        self.progress = progress
        self._outbox = outbox
        self._limits = limits
        self._shown_id = ""  # of the answer that people already see, until it is a step

    def tell(self, event: ModelEvent) -> None:
        """Hand over an event of the model."""
        put = self._outbox.put
        if isinstance(event, Delta):
            self._show(event.message_id)
            if event.thinking:
                put(ThinkingDelta(event.message_id, event.thinking))
            if event.text:
                put(TextDelta(event.message_id, event.text))
        elif isinstance(event, ModelCall):
            put(ModelAsked(event, self.progress.find_stored(event.messages)))
        elif isinstance(event, Reset):
            self._shown_id = ""
            put(AnswerReset(event.message_id, event.reason))
        elif isinstance(event, Reshaped):
            changes = "; ".join(event.changes)
            self.progress.tell([RESHAPED.format(model=event.model, changes=changes)], [])
        else:
            put(ModelWaiting(event.seconds, event.reason))

    def tell_of_tool(self, call_id: str, text: str) -> None:
        """Hand over a running tool's progress."""
        self._outbox.put(ToolProgress(call_id, text))

    async def route(self, recipe: AgentRecipe) -> AgentRecipe:
        """Return the recipe with the turn's agent; if that is undecided, decide and save it."""
        manager, route = recipe.image.manager, recipe.route
        if manager is None or route is None or route.reason is not RouteReason.PENDING:
            return recipe
        routed = await decide_route(recipe, manager, self.progress.state, self.tell)
        await self._outbox.step(routed)
        return replace(recipe, agent_name=routed.agent, route=routed.route)

    async def work(self, recipe: AgentRecipe, tools: Tools) -> None:
        """Run the agent, and then each one that the turn is handed over to.

        Raise ResponseRefused after too many. Those of the turn that a retry resumes do not count.
        """
        self.progress.tell(tools.served.notices, tools.served.warnings)
        for count in itertools.count():
            if not self.progress.is_finished and not await self.finish(recipe, tools):
                return
            handed = find_hand_over(recipe, self.progress.state)
            if handed is None:
                return
            if count == MOST_HAND_OVERS:
                raise ResponseRefused(
                    f"The turn was handed over {count} times. Rephrase the message."
                )
            await self._outbox.step(handed)
            self.progress = Progress(handed.state, self.progress.steps)
            recipe = replace(recipe, agent_name=handed.agent, route=handed.route)

    async def finish(self, recipe: AgentRecipe, tools: Tools) -> bool:
        """Build the agent and run it; what its model cannot read is shortened, once for each step.

        Return whether the agent has finished.
        """
        shortened_at = -1
        while True:
            agent = build_agent(recipe, tools, self.tell, self.progress.take_report)
            try:
                return await self.drive(agent)
            except ConversationTooLong:
                if not agent.can_shorten or shortened_at == self.progress.steps:
                    raise
            self.progress, recipe = self.progress.renewed(), replace(recipe, is_too_long=True)
            shortened_at = self.progress.steps

    async def drive(self, agent: Agent) -> bool:
        """Run the graph and hand over each step; continue when the step is saved.

        Return whether the agent has finished.
        """
        progress = self.progress
        progress.use(reducers_of(agent.graph), codecs_of(agent.graph))
        self._check_limits()
        config: RunnableConfig = {
            "configurable": {"thread_id": "turn"},
            "recursion_limit": NO_RECURSION_LIMIT,
        }
        start = await restore(agent.graph, config, progress.values, agent.model_step_end)
        failpoint("agent.restored")
        asked: list[ApprovalRequest | PlanWait] = []
        updates = agent.graph.astream(start, config, stream_mode="updates", durability="exit")
        async with aclosing(updates):  # type: ignore[type-var]  # a generator, typed as iterator
            async for update in updates:
                asked += (question.value for question in update.get(INTERRUPT, ()))
                for node, values in each_update(update):
                    if step := self._advance(agent, node, values):
                        await self._outbox.step(step)
                        self._check_limits()
        if asked:
            await self._outbox.step(progress.interrupt(asked))
            return False
        if step := progress.finish_rest():
            await self._outbox.step(step)
        return True

    def _advance(self, agent: Agent, node: str, values: Mapping[str, Any]) -> StepFinished | None:
        progress = self.progress
        if node == TOOLS_NODE:
            for finished in progress.take_results(values):
                self._outbox.put(finished)
            return progress.finish_batch()
        progress.take_update(values)
        if node != agent.model_step_end:
            return progress.finish_own_call()
        if step := progress.finish_model_step():
            self._show(step.messages[0].get("id", ""))
            self._shown_id = ""
            return replace(step, asking=agent.calls_that_ask(step.messages))
        return None

    def _show(self, message_id: str) -> None:
        """Withdraw what is shown of another answer: a policy has let the model answer again."""
        if self._shown_id and self._shown_id != message_id:
            self._outbox.put(AnswerReset(self._shown_id, REPLACED))
        self._shown_id = message_id

    def _check_limits(self) -> None:
        check_loops(self.progress.state["messages"])
        if self.progress.steps >= self._limits.steps and not self.progress.is_finished:
            raise StepLimitReached(
                f"The agent made {counted(self.progress.steps, 'step')}, its limit, without coming"
                " to an answer. Ask for less, or raise the limit."
            )
