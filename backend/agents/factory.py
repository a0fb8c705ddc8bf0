"""Building the temporary agent of one turn from the image: opens its tools, then builds it."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from backend.agents.answers import Answers
from backend.agents.middleware.approvals import Approvals, with_rule
from backend.agents.middleware.fitted_arguments import FittedArguments
from backend.agents.middleware.registry import Policy, brought_tools, build_middleware
from backend.agents.middleware.shortening.summarization import Summarization
from backend.agents.middleware.tool_guard import ToolGuard
from backend.agents.policy_context import PolicyContext, Report
from backend.agents.roster import makes_artifacts
from backend.agents.team.response import RESPOND
from backend.agents.team.response_middleware import Responses
from backend.agents.team.streaming import ResponseText
from backend.agents.team.view import ConversationView, Team
from backend.domains.allowed import Allowed
from backend.domains.secrets import names_of_secrets
from backend.domains.team import agents_for, everyone_in, specialists_for
from backend.errors.base import ConfigurationError, InvalidInput
from backend.llm.asking import Tell
from backend.llm.provider import ModelProvider
from backend.sandbox.sandbox import Sandbox
from backend.schemas.conversations.turns import Route
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate
from backend.tools.asker import may_use_server
from backend.tools.context import OnProgress, ToolContext
from backend.tools.journal import NoJournal, ToolJournal
from backend.tools.mcp.health import ServerHealth
from backend.tools.mcp.servers import NO_MEMORY, Served, open_mcp_tools
from backend.tools.mcp.stored_versions import ToolMemory
from backend.tools.planning import PLAN_TOOLS, RUN_PLAN, plan_tools
from backend.tools.registry import build_tools, offered_tools
from backend.types import JSON
from colloquy_kit.runtime.restore import last_node_of_model_step, new_checkpointer

APPROVE_PLAN = "The manager asks whether this plan may run. You can edit it first."


@dataclass(frozen=True)
class AgentRecipe:
    """Everything an agent is built from. `model`: the one that a person chose for the turn.

    `role` is the role of who asked, `route` how the turn found its agent, `steps` how many it has
    made before; `artifacts` are those of the messages, by message id; `is_too_long`: the model has
    refused them as too long.
    """

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
    role: str | None = None
    route: Route | None = None
    steps: int = 0
    artifacts: Mapping[str, Sequence[JSON]] = field(default_factory=dict)
    is_too_long: bool = False


@dataclass(frozen=True)
class Tools:
    """The tools of an image in one run: its own, and those of its tool servers."""

    own: Sequence[BaseTool]
    served: Served


@dataclass(frozen=True)
class Agent:
    """A built agent, and the node after which one of its model messages is complete.

    `approvals`: the policy that asks people, if any. `can_shorten`: a policy summarises what its
    model cannot read.
    """

    graph: CompiledStateGraph[Any, Any, Any, Any]
    model_step_end: str
    approvals: Approvals | None = None
    can_shorten: bool = False

    def calls_that_ask(self, messages: Sequence[JSON]) -> frozenset[str]:
        """Return the ids of the calls that wait for a person before they run."""
        calls = [call for message in messages for call in message.get("tool_calls", ())]
        asks = self.approvals.asks if self.approvals else lambda _: False
        return frozenset(call["id"] for call in calls if asks(call["function"]["name"]))


def choose_agent(image: DomainTemplate, name: str | None) -> AgentTemplate:
    """Return the named agent, or the first. Raise InvalidInput that lists those that exist."""
    agents = everyone_in(image)
    if name is None:
        return agents[0]
    for agent in agents:
        if agent.name == name:
            return agent
    known = ", ".join(agent.name for agent in agents)
    raise InvalidInput(f"There is no agent {name!r} in this session. There are: {known}.")


@asynccontextmanager
async def open_tools(recipe: AgentRecipe, on_progress: OnProgress) -> AsyncGenerator[Tools, None]:
    """Open the image's tool servers for the block and yield all tools its agents may have.

    `on_progress` receives the progress of running tools. A server that who asks may not use, or
    not one of its secrets, does not exist.
    """
    named = {name for agent in everyone_in(recipe.image) for name in agent.tools or ()}
    makes = recipe.tool_context.makes_artifacts or makes_artifacts(recipe.image)
    context = replace(recipe.tool_context, on_progress=on_progress, makes_artifacts=makes)
    own = build_tools(offered_tools(recipe.image.tools, named, context), context)
    rights = context.person.rights()
    servers = {
        name: server
        for name, server in recipe.image.mcp_servers.items()
        if may_use_server(rights, name, names_of_secrets(server))
    }
    async with open_mcp_tools(
        servers,
        allowed=recipe.allowed,
        health=recipe.health,
        memory=recipe.memory,
        sandbox=recipe.sandbox,
        asker=recipe.tool_context.asker,
        call_seconds=recipe.image.limits.tool_seconds,
        on_progress=on_progress,
        is_patient=recipe.answers.let_run,
        reserved=names_of_policies(recipe.image),
    ) as served:
        is_whole = served.is_whole and len(servers) == len(recipe.image.mcp_servers)
        yield Tools(own, replace(served, is_whole=is_whole))


def build_agent(
    recipe: AgentRecipe, tools: Tools, on_event: Tell, on_report: Callable[[Report], None]
) -> Agent:
    """Build the agent with the tools that it may use.

    `on_event` receives this agent's answers only, not those of models that policies ask;
    `on_report` receives what the policies report.
    """
    image = recipe.image
    template = choose_agent(image, recipe.agent_name or None)
    team = _team_of(recipe, template)
    tell = ResponseText(on_event, is_manager=team.agents is not None) if team else on_event
    model = recipe.models.chat_model(recipe.model or template.model or image.model)
    model = model.model_copy(update={"on_event": tell})
    selected = select_tools(template, tools.own, tools.served)
    selected += _manager_tools(recipe, team, selected)
    context = PolicyContext(
        recipe.models, image, model, on_report, tell, recipe.answers, recipe.is_too_long
    )
    named = build_middleware(named_middleware(image, template), context)
    policies = [*_team_policies(recipe, team, template), *named]
    # A call that waits for a person has not begun: neither its journal nor its time limit.
    outside = [policy for policy in policies if isinstance(policy, Approvals)]
    inside = [policy for policy in policies if policy not in outside]
    middleware = [FittedArguments(), *outside, _guard(recipe, tools.served), *inside]
    graph = create_agent(
        model=model,
        tools=selected,
        system_prompt=(template.system_prompt or image.system_prompt) or None,
        middleware=middleware,
        checkpointer=new_checkpointer(),
    )
    end, approvals = last_node_of_model_step(middleware), next(iter(outside), None)
    can_shorten = any(isinstance(policy, Summarization) for policy in policies)
    return Agent(graph, end, approvals, can_shorten)


def _team_of(recipe: AgentRecipe, template: AgentTemplate) -> Team | None:
    """Return what the agent knows of the others; None if the domain has no manager."""
    manager = recipe.image.manager
    if manager is None:
        return None
    is_manager = template.name == manager.name
    return Team(
        conversation_id=recipe.tool_context.conversation_id,
        recent=manager.recent_messages,
        artifact_characters=manager.artifact_characters,
        agents=specialists_for(recipe.image, recipe.role) if is_manager else None,
        artifacts=recipe.artifacts,
    )


def _team_policies(recipe: AgentRecipe, team: Team | None, template: AgentTemplate) -> list[Policy]:
    if team is None:
        return []
    names = [agent.name for agent in agents_for(recipe.image, recipe.role)]
    responses = Responses(template.name, names, is_manager=team.agents is not None)
    return [ConversationView(team), responses]


def named_middleware(image: DomainTemplate, template: AgentTemplate) -> list[str | JSON]:
    """Return the policies named by an agent, or by its domain; plans may need approval."""
    named = template.middleware if template.middleware is not None else image.middleware
    manager = image.manager
    if manager is None or template.name != manager.name or not manager.approve_plans:
        return named
    return with_rule(named, {"tools": RUN_PLAN, "action": "ask", "description": APPROVE_PLAN})


def names_of_policies(image: DomainTemplate) -> set[str]:
    """Return the names of the tools that the agents' policies and their manager bring."""
    policies = {RESPOND, *PLAN_TOOLS} if image.manager else set()
    for agent in everyone_in(image):
        policies |= brought_tools(named_middleware(image, agent))
    return policies


def _manager_tools(
    recipe: AgentRecipe, team: Team | None, selected: Sequence[BaseTool]
) -> list[BaseTool]:
    """Return the tools by which a manager delegates work; none for any other agent."""
    if team is None or team.agents is None:
        return []
    has = {tool.name for tool in selected}
    return [tool for tool in plan_tools(recipe.tool_context) if tool.name not in has]


def _guard(recipe: AgentRecipe, served: Served) -> ToolGuard:
    seconds = recipe.image.limits.tool_seconds
    absent = {**served.gone, **served.absent}
    turn_id = recipe.tool_context.turn_id
    person = recipe.tool_context.person
    return ToolGuard(recipe.journal, turn_id, seconds, absent, served.warnings, person)


def select_tools(
    template: AgentTemplate, own: Sequence[BaseTool], served: Served
) -> list[BaseTool]:
    """Return the agent's tools; a server's tool replaces a built-in one of the same name.

    Also while the server is down: another tool under a name the model knows would mislead it.
    """
    available = [tool for tool in own if tool.name not in served.absent]
    by_name = {tool.name: tool for tool in (*available, *served.tools)}
    if template.tools is None:
        return list(by_name.values())
    for name in template.tools:
        # The tools of an unavailable server are unknown.
        if name not in by_name and served.is_whole:
            raise ConfigurationError(
                f"The agent {template.name} names the tool {name!r}, which this session does not "
                f"have. It has: {', '.join(by_name) or 'none'}."
            )
    return [by_name[name] for name in dict.fromkeys(template.tools) if name in by_name]
