"""Makes the temporary agent of one turn from the image: opens its tools, then builds it of them."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool
from langgraph.channels import BinaryOperatorAggregate
from langgraph.graph.state import CompiledStateGraph

from backend.agents.answers import Answers
from backend.agents.middleware.approvals import Approvals
from backend.agents.middleware.registry import Policy, build_middleware
from backend.agents.middleware.tool_guard import ToolGuard
from backend.agents.policy_context import Codecs, PolicyContext, Report
from backend.agents.restore import last_node_of_model_step, new_checkpointer
from backend.domains.allowed import Allowed
from backend.domains.template import agents_of
from backend.errors.base import ConfigurationError, InvalidInput
from backend.llm.asking import Tell
from backend.llm.provider import ModelProvider
from backend.sandbox.sandbox import Sandbox
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate
from backend.tools.context import OnProgress, ToolContext
from backend.tools.journal import NoJournal, ToolJournal
from backend.tools.mcp.health import ServerHealth
from backend.tools.mcp.servers import NO_MEMORY, Served, open_mcp_tools
from backend.tools.mcp.stored_versions import ToolMemory
from backend.tools.registry import build_tools, offered_tools
from backend.types import JSON


@dataclass(frozen=True)
class AgentRecipe:
    """All that an agent is built from. `model`: the one that a person has chosen for the turn."""

    image: DomainTemplate
    agent_name: str
    models: ModelProvider
    tool_context: ToolContext
    journal: ToolJournal = field(default_factory=NoJournal)
    answers: Answers = field(default_factory=Answers)
    allowed: Allowed = field(default_factory=Allowed)
    health: ServerHealth = field(default_factory=ServerHealth)
    memory: ToolMemory = NO_MEMORY
    sandbox: Sandbox | None = None
    model: str | None = None


@dataclass(frozen=True)
class Tools:
    """The tools that an image has in one run: its own, and what its tool servers give."""

    own: Sequence[BaseTool]
    served: Served


@dataclass(frozen=True)
class Agent:
    """A built agent, and the node after which one of its model messages is done.

    `codecs`: how policies' values are stored, by key. `approvals`: the policy that asks people, if
    there is one.
    """

    graph: CompiledStateGraph[Any, Any, Any, Any]
    model_step_end: str
    codecs: Codecs = field(default_factory=dict)
    approvals: Approvals | None = None

    @property
    def reducers(self) -> Mapping[str, Callable[[Any, Any], Any]]:
        """How what several calls of a batch change of one key is joined, by key."""
        channels = self.graph.channels.items()
        return {k: c.operator for k, c in channels if isinstance(c, BinaryOperatorAggregate)}

    def calls_that_ask(self, messages: Sequence[JSON]) -> frozenset[str]:
        """Return the ids of the calls that wait for a person before they run."""
        calls = [call for message in messages for call in message.get("tool_calls", ())]
        asks = self.approvals.asks if self.approvals else lambda _: False
        return frozenset(call["id"] for call in calls if asks(call["function"]["name"]))


def choose_agent(image: DomainTemplate, name: str | None) -> AgentTemplate:
    """Return the named agent, or the first; InvalidInput names those that exist."""
    agents = agents_of(image)
    if name is None:
        return agents[0]
    for agent in agents:
        if agent.name == name:
            return agent
    known = ", ".join(agent.name for agent in agents)
    raise InvalidInput(f"There is no agent {name!r} in this session. There are: {known}.")


@asynccontextmanager
async def open_tools(recipe: AgentRecipe, on_progress: OnProgress) -> AsyncGenerator[Tools, None]:
    """Open the image's tool servers for the block and give all tools that its agents may have.

    `on_progress` is told what running tools say.
    """
    context = replace(recipe.tool_context, on_progress=on_progress)
    named = {name for agent in recipe.image.agents for name in agent.tools or ()}
    own = build_tools(await offered_tools(recipe.image.tools, named, context), context)
    async with open_mcp_tools(
        recipe.image.mcp_servers,
        allowed=recipe.allowed,
        health=recipe.health,
        memory=recipe.memory,
        sandbox=recipe.sandbox,
        call_seconds=recipe.image.limits.tool_seconds,
        on_progress=on_progress,
    ) as served:
        yield Tools(own, served)


def build_agent(
    recipe: AgentRecipe, tools: Tools, on_event: Tell, on_report: Callable[[Report], None]
) -> Agent:
    """Build the agent with those of the tools that it may use.

    `on_event` sees this agent's answers only, not those of a policy that asks a model of its own;
    `on_report` is told what the policies do.
    """
    image = recipe.image
    template = choose_agent(image, recipe.agent_name or None)
    model = recipe.models.chat_model(recipe.model or template.model or image.model)
    model = model.model_copy(update={"on_event": on_event})
    selected = select_tools(template, tools.own, tools.served)
    context = PolicyContext(recipe.models, image, model, on_report, on_event, recipe.answers)
    policies = build_middleware(named_middleware(image, template), context)
    _check_distinct(selected, policies)
    # What waits for a person has not begun: neither its journal nor its time.
    outside = [policy for policy in policies if isinstance(policy, Approvals)]
    inside = [policy for policy in policies if policy not in outside]
    middleware = [*outside, _guard(recipe, tools.served), *inside]
    graph = create_agent(
        model=model,
        tools=selected,
        system_prompt=(template.system_prompt or image.system_prompt) or None,
        middleware=middleware,
        checkpointer=new_checkpointer(),
    )
    codecs = {k: c for policy in policies for k, c in getattr(policy, "codecs", {}).items()}
    end, approvals = last_node_of_model_step(middleware), next(iter(outside), None)
    return Agent(graph, end, codecs, approvals)


def named_middleware(image: DomainTemplate, template: AgentTemplate) -> list[str | JSON]:
    """Return the policies that an agent names, or else its domain."""
    return template.middleware if template.middleware is not None else image.middleware


def _check_distinct(tools: Sequence[BaseTool], policies: Sequence[Policy]) -> None:
    """Raise ConfigurationError for a tool whose name a policy's own tool has, too."""
    names = {tool.name for tool in tools}
    for policy in policies:
        for brought in getattr(policy, "tools", ()):
            if brought.name in names:
                raise ConfigurationError(
                    f"The middleware {policy.name} brings a tool {brought.name!r}, and this agent "
                    "has another one of that name. Leave one of them out of the domain."
                )


def _guard(recipe: AgentRecipe, served: Served) -> ToolGuard:
    seconds = recipe.image.limits.tool_seconds
    return ToolGuard(recipe.journal, recipe.tool_context.turn_id, seconds, served.absent)


def select_tools(
    template: AgentTemplate, own: Sequence[BaseTool], served: Served
) -> list[BaseTool]:
    """Return the agent's tools; a server's tool stands in for an own one of the same name.

    Also while the server is away: another tool under a name that the model knows would mislead it.
    """
    available = [tool for tool in own if tool.name not in served.absent]
    by_name = {tool.name: tool for tool in (*available, *served.tools)}
    if template.tools is None:
        return list(by_name.values())
    for name in template.tools:
        # What a server that is away would have had nobody may know.
        if name not in by_name and served.is_whole:
            raise ConfigurationError(
                f"The agent {template.name} wants the tool {name!r}, which this session does not "
                f"have. It has: {', '.join(by_name) or 'none'}."
            )
    return [by_name[name] for name in dict.fromkeys(template.tools) if name in by_name]
