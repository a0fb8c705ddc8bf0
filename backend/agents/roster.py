"""The agents of a domain or session that the caller may write to, and their tools. Pure."""

from backend.auth.scope import Scope
from backend.domains.team import specialists_for
from backend.schemas.domains.agents import AgentInfo
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate, ManagerTemplate
from backend.tools.registry import TOOLS


def list_agents(scope: Scope, template: DomainTemplate) -> list[AgentInfo]:
    """Return the manager, if there is one, and the agents whose `roles` allow the caller."""
    manager = [_manager(template, template.manager)] if template.manager else []
    permitted = specialists_for(template, scope.role)
    return [*manager, *(_agent(template, agent) for agent in permitted)]


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
