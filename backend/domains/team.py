"""Which agents a domain has, and who may use them: pure rules."""

from collections.abc import Collection

from backend.domains.template import agents_of
from backend.errors.base import InvalidInput
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate
from backend.text import same_name


def manager_of(template: DomainTemplate) -> AgentTemplate | None:
    """Return the domain's manager as an agent."""
    manager = template.manager
    if manager is None:
        return None
    return AgentTemplate(
        name=manager.name,
        description=manager.description,
        system_prompt=manager.system_prompt,
        model=manager.model,
        tools=manager.tools,
        middleware=manager.middleware,
    )


def everyone_in(template: DomainTemplate) -> list[AgentTemplate]:
    """Return the manager, if there is one, and all other agents."""
    manager = manager_of(template)
    return [manager, *agents_of(template)] if manager else agents_of(template)


def is_permitted(agent: AgentTemplate, role: str | None) -> bool:
    """Return whether people of this role may use the agent."""
    return agent.roles is None or role in agent.roles


def without_models(template: DomainTemplate, withheld: Collection[str]) -> DomainTemplate:
    """Return the template without the agents whose own model is withheld from who asks."""
    kept = [agent for agent in template.agents if agent.model not in withheld]
    is_empty = not kept and template.manager is None
    return template if is_empty else template.model_copy(update={"agents": kept})


def specialists_for(template: DomainTemplate, role: str | None) -> list[AgentTemplate]:
    """Return the agents besides the manager that people of this role may use."""
    return [agent for agent in agents_of(template) if is_permitted(agent, role)]


def agents_for(template: DomainTemplate, role: str | None) -> list[AgentTemplate]:
    """Return the agents that people of this role may use, the manager first."""
    return [agent for agent in everyone_in(template) if is_permitted(agent, role)]


def agent_for(template: DomainTemplate, role: str | None, name: str | None) -> AgentTemplate:
    """Return the agent of this name, or for None the default recipient of messages.

    Raise InvalidInput, which lists the agents of this role, if none has that name.
    """
    permitted = agents_for(template, role)
    if name is None and permitted:
        return permitted[0]
    for agent in permitted:
        if name is not None and same_name(agent.name) == same_name(name):
            return agent
    if not permitted:
        raise InvalidInput("Your role may use no agent of this session. Ask an administrator.")
    known = ", ".join(agent.name for agent in permitted)
    raise InvalidInput(f"There is no agent {name!r} here. The agents are {known}.")
