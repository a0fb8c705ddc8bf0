"""Runs of an agent against the scripted model, without a database."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import UUID

import pytest

from backend.agents.factory import AgentRecipe
from backend.agents.run import run_agent
from backend.agents.steps.events import RunEvent, Step, StepFinished
from backend.auth.scope import LOCAL_USER
from backend.data.sources import Sources
from backend.domains.allowed import Allowed
from backend.domains.commands import Commands
from backend.llm.patience import Patience
from backend.llm.provider import ModelProvider
from backend.outgoing.policy import Outgoing
from backend.schemas.domains.templates import DomainTemplate
from backend.setting_kinds import split_commands
from backend.settings import Settings
from backend.tools.context import ToolContext
from backend.tools.journal import NoJournal, ToolJournal
from backend.types import JSON
from colloquy_kit.messages.state import empty_state, user_message
from tests.stack import STDIO_COMMANDS

ALLOWED = Allowed(
    commands=Commands(split_commands(f"{STDIO_COMMANDS}, /no/such/program, /etc/passwd")),
    outgoing=Outgoing(permits_inside=True),
)
PATIENCE = Patience(
    first_token_seconds=5, silence_seconds=5, tries=3, first_wait=0.01, longest_wait=2
)
TURN_ID = UUID(int=7)
GOOD: JSON = {"text": "now it works"}  # what a model says after its faults
NO_SOURCES = cast(Sources, None)  # only tools of MCP servers are called here
NO_CONTEXT = ToolContext(NO_SOURCES, UUID(int=8), TURN_ID, LOCAL_USER)


def settings_for(url: str, **changes: Any) -> Settings:
    values = {"openai_base_url": url, "openai_api_key": "sk-canary-123456", "model": "gpt-4o"}
    return Settings(_env_file=None, **{**values, **changes})


def asking(text: str, *before: JSON) -> JSON:
    """The state in which a person has just asked."""
    return {**empty_state(), "messages": [*before, user_message(text, "u")]}


@asynccontextmanager
async def recipe_for(
    url: str,
    *,
    patience: Patience = PATIENCE,
    journal: ToolJournal | None = None,
    agent: str = "",
    **image: Any,
) -> AsyncIterator[AgentRecipe]:
    models = ModelProvider(settings_for(url), patience)
    template = DomainTemplate(**{"name": "d", "tools": [], **image})
    try:
        yield AgentRecipe(
            template, agent, models, NO_CONTEXT, journal or NoJournal(), allowed=ALLOWED
        )
    finally:
        await models.aclose()


async def _save_nothing(step: Step) -> None:
    pass


class KeepingOutbox:
    """Keeps what a run hands over; a step is saved when `save` has returned."""

    def __init__(self, save: Callable[[Step], Awaitable[None]] = _save_nothing) -> None:
        self.events: list[RunEvent] = []
        self._save = save

    def put(self, event: RunEvent) -> None:
        self.events.append(event)

    async def step(self, step: Step) -> None:
        self.events.append(step)
        await self._save(step)


async def collect(recipe: AgentRecipe, state: JSON) -> list[RunEvent]:
    outbox = KeepingOutbox()
    await run_agent(recipe, state, outbox)
    return outbox.events


def run(url: str, state: JSON, **options: Any) -> list[RunEvent]:
    """All events of one run."""

    async def go() -> list[RunEvent]:
        async with recipe_for(url, **options) as recipe:
            return await collect(recipe, state)

    return asyncio.run(go())


def failing(
    url: str, error: type[Exception], match: str | None = None, **options: Any
) -> tuple[list[RunEvent], Any]:
    """The events of a run that ends with the error, and the error."""
    outbox = KeepingOutbox()

    async def go(recipe: AgentRecipe) -> Any:
        with pytest.raises(error, match=match) as raised:
            await run_agent(recipe, asking("go"), outbox)
        return raised.value

    return outbox.events, run_with(url, go, **options)


def run_with(url: str, body: Callable[[AgentRecipe], Awaitable[Any]], **options: Any) -> Any:
    """What `body` gives for a recipe."""

    async def go() -> Any:
        async with recipe_for(url, **options) as recipe:
            return await body(recipe)

    return asyncio.run(go())


def steps(events: list[RunEvent]) -> list[StepFinished]:
    return [event for event in events if isinstance(event, StepFinished)]


def final_state(events: list[RunEvent]) -> JSON:
    return steps(events)[-1].state
