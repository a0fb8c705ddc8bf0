"""The first request that a domain's agent would send its model: built as in a turn, never sent.

Nothing is stored and no model is called; tool servers are connected to, as in a turn.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langsmith import tracing_context

from backend.agents.factory import AgentRecipe, build_agent, choose_agent, open_tools
from backend.agents.policy_context import Notice, Report
from backend.errors.base import AppError
from backend.llm.events import ANSWER, ModelCall, ModelEvent
from backend.schemas.domains.dry_runs import FirstRequest
from colloquy_kit.messages.clean import clean
from colloquy_kit.messages.state import empty_state, load_values, user_message
from colloquy_kit.runtime.restore import restore

MOST_STEPS = 100
TOO_LATE = (
    "The tool servers took longer than {seconds:g} seconds. Check which of them answer, and try "
    "again."
)
NO_REQUEST = "The agent's middleware ended the turn before calling a model."


class _NotSent(Exception):  # not an error: it ends a dry run
    """A request was about to be sent."""


@dataclass
class _Looked:
    """The request that was about to be sent, and the notices for people."""

    calls: list[ModelCall] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def tell(self, event: ModelEvent) -> None:
        """Keep a request instead of sending it."""
        if isinstance(event, ModelCall):
            self.calls.append(event)
            raise _NotSent

    def take_report(self, report: Report) -> None:
        if isinstance(report, Notice):
            self.notices.append(report.text)

    @property
    def call(self) -> ModelCall | None:
        """Return the agent's own request, or that of the policy that calls a model before it."""
        answers = [call for call in self.calls if call.purpose == ANSWER]
        return next(iter([*answers, *self.calls]), None)


async def make_first_request(recipe: AgentRecipe, question: str, seconds: float) -> FirstRequest:
    """Return the request that an agent's model would be sent, within this many seconds."""
    looked = _Looked()
    agent = recipe.agent_name
    try:
        agent = choose_agent(recipe.image, recipe.agent_name or None).name
        with tracing_context(enabled=False):
            async with asyncio.timeout(seconds):
                await _run_until_asked(recipe, question, looked)
    except TimeoutError:
        return FirstRequest(agent=agent, problem=TOO_LATE.format(seconds=seconds))
    except AppError as error:
        return FirstRequest(agent=agent, notices=looked.notices, problem=error.detail)
    return _told(agent, looked)


async def _run_until_asked(recipe: AgentRecipe, question: str, looked: _Looked) -> None:
    async with open_tools(recipe, lambda call_id, text: None) as tools:
        looked.notices += [*tools.served.warnings, *tools.served.notices]
        agent = build_agent(recipe, tools, looked.tell, looked.take_report)
        message = user_message(question, str(uuid4()))
        values = load_values({**empty_state(), "messages": [message]})
        config: RunnableConfig = {
            "configurable": {"thread_id": "dry run"},
            "recursion_limit": MOST_STEPS,
        }
        start = await restore(agent.graph, config, values, agent.model_step_end)
        updates: Any = agent.graph.astream(start, config, stream_mode="updates", durability="exit")
        try:
            async with aclosing(updates):
                async for _ in updates:
                    if looked.call and looked.call.purpose == ANSWER:
                        return
        except _NotSent:
            return


def _told(agent: str, looked: _Looked) -> FirstRequest:
    call = looked.call
    if call is None:
        return FirstRequest(agent=agent, notices=looked.notices, problem=NO_REQUEST)
    rest = dict(clean(call.payload))
    return FirstRequest(
        agent=agent,
        model=str(rest.get("model", "")),
        messages=rest.pop("messages", []),
        tools=rest.pop("tools", None) or [],
        settings=rest,
        purpose=call.purpose,
        notices=looked.notices,
    )
