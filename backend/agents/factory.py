"""Builds the temporary agent of one turn from the conversation's image."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from backend.agents.middleware.registry import build_middleware
from backend.agents.middleware.tool_guard import ToolGuard
from backend.agents.restore import last_node_of_model_step, new_checkpointer
from backend.errors import ConfigurationError, InvalidInput
from backend.llm.asking import Tell
from backend.llm.provider import ModelProvider
from backend.schemas.domains import AgentTemplate, DomainTemplate
from backend.tools.context import ToolContext
from backend.tools.journal import NoJournal, ToolJournal
from backend.tools.mcp import open_mcp_tools
from backend.tools.registry import build_tools

DEFAULT_AGENT = "assistant"


@dataclass(frozen=True)
class AgentRecipe:
    """All that an agent is built from."""

    image: DomainTemplate
    agent_name: str
    models: ModelProvider
    tool_context: ToolContext
    journal: ToolJournal = field(default_factory=NoJournal)


@dataclass(frozen=True)
class Agent:
    """A built agent, and the node after which one of its model messages is done.

    `notices`: what a person should know of how it was built.
    """

    graph: CompiledStateGraph[Any, Any, Any, Any]
    model_step_end: str
    notices: tuple[str, ...] = ()


def choose_agent(image: DomainTemplate, name: str | None) -> AgentTemplate:
    """Return the named agent, or the first; InvalidInput names those that exist.

    A domain without agents has one: DEFAULT_AGENT, with the domain's prompt and all its tools.
    """
    agents = image.agents or [AgentTemplate(name=DEFAULT_AGENT)]
    if name is None:
        return agents[0]
    for agent in agents:
        if agent.name == name:
            return agent
    known = ", ".join(agent.name for agent in agents)
    raise InvalidInput(f"There is no agent {name!r} in this session. There are: {known}.")


@asynccontextmanager
async def open_agent(recipe: AgentRecipe, on_event: Tell) -> AsyncGenerator[Agent, None]:
    """Open the image's tool servers and build the agent; both last for the block.

    `on_event` sees this agent's answers only, not those of a policy that asks a model of its own.
    """
    template = choose_agent(recipe.image, recipe.agent_name or None)
    model = recipe.models.chat_model(template.model or recipe.image.model)
    own_tools = build_tools(recipe.image.tools, recipe.tool_context)
    notices: list[str] = []
    async with open_mcp_tools(
        recipe.image.mcp_servers,
        call_seconds=recipe.image.limits.tool_seconds,
        tell=notices.append,
    ) as served:
        tools = select_tools(template, own_tools, served)
        named = template.middleware if template.middleware is not None else recipe.image.middleware
        middleware = [_guard(recipe), *build_middleware(named)]
        graph = create_agent(
            model=model.model_copy(update={"on_event": on_event}),
            tools=tools,
            system_prompt=(template.system_prompt or recipe.image.system_prompt) or None,
            middleware=middleware,
            checkpointer=new_checkpointer(),
        )
        yield Agent(graph, last_node_of_model_step(middleware), tuple(notices))


def _guard(recipe: AgentRecipe) -> ToolGuard:
    seconds = recipe.image.limits.tool_seconds
    return ToolGuard(recipe.journal, recipe.tool_context.turn_id, seconds)


def select_tools(
    template: AgentTemplate, own: Sequence[BaseTool], served: Sequence[BaseTool]
) -> list[BaseTool]:
    """Return the agent's tools; a server's tool stands in for an own one of the same name."""
    by_name = {tool.name: tool for tool in (*own, *served)}
    if template.tools is None:
        return list(by_name.values())
    for name in template.tools:
        if name not in by_name:
            raise ConfigurationError(
                f"The agent {template.name} wants the tool {name!r}, which this session does not "
                f"have. It has: {', '.join(by_name) or 'none'}."
            )
    return [by_name[name] for name in dict.fromkeys(template.tools)]
