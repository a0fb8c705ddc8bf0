"""The agents of a domain that the caller may write to, and the tools that they may have. Pure."""

from backend.auth.scope import Scope
from backend.domains.team import everyone_in, specialists_for
from backend.schemas.domains.agents import AgentInfo
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate, ManagerTemplate
from backend.tools.planning import CALL_AGENT, RUN_PLAN
from backend.tools.registry import ARTIFACT_TOOLS, TOOLS

AnyAgent = AgentTemplate | ManagerTemplate


def list_agents(scope: Scope, template: DomainTemplate) -> list[AgentInfo]:
    """Return the manager, if there is one, and the agents whose `roles` allow the caller."""
    manager = [_manager(template, template.manager)] if template.manager else []
    permitted = specialists_for(template, scope.role)
    return [*manager, *(_agent(template, agent) for agent in permitted)]


def makes_artifacts(image: DomainTemplate) -> bool:
    """Return whether there is a manager, or the domain or an agent names a tool of artifacts."""
    named = {name for agent in everyone_in(image) for name in agent.tools or ()}
    return image.manager is not None or bool(ARTIFACT_TOOLS & {*named, *(image.tools or ())})


def built_in_tools(image: DomainTemplate) -> list[str]:
    """Return the built-in tools of a domain; some are offered only where there are documents."""
    if image.tools is not None:
        return image.tools
    makes = makes_artifacts(image)
    return [name for name, spec in TOOLS.items() if makes or not spec.for_artifacts]


def tools_of(image: DomainTemplate, agent: AnyAgent | None = None) -> list[str]:
    """Return the tools that this agent may have, or any agent of the domain."""
    named = agent.tools if agent else None
    own = built_in_tools(image) if named is None else named
    delegates = image.manager is not None and agent in (None, image.manager)
    return [*own, RUN_PLAN, CALL_AGENT] if delegates else own


def _manager(template: DomainTemplate, manager: ManagerTemplate) -> AgentInfo:
    return AgentInfo(
        name=manager.name,
        description=manager.description,
        is_manager=True,
        tools=manager.tools,
        servers=[],
        roles=None,
        model=manager.model or template.model,
    )


def _agent(template: DomainTemplate, agent: AgentTemplate) -> AgentInfo:
    return AgentInfo(
        name=agent.name,
        description=agent.description,
        is_manager=False,
        tools=built_in_tools(template) if agent.tools is None else agent.tools,
        servers=list(template.mcp_servers) if agent.tools is None else [],
        roles=agent.roles,
        model=agent.model or template.model,
    )
