"""Choosing the agent for a message, as far as its text and history tell: pure rules."""

from dataclasses import dataclass

from backend.agents.team.mentions import find_mentions
from backend.agents.team.payload import SPECIALIST
from backend.domains.team import agent_for, agents_for
from backend.errors.base import InvalidInput
from backend.schemas.conversations.turns import Route, RouteReason
from backend.schemas.domains.templates import DomainTemplate
from backend.types import JSON


@dataclass(frozen=True)
class Routed:
    """The agent that has a turn, and why; None if the domain has no manager."""

    agent: str
    route: Route | None = None


def route_message(
    template: DomainTemplate, role: str | None, message: str, agent: str | None
) -> Routed:
    """Return the agent that a message addresses, or the manager while that is undecided.

    `agent` is the one that the request names. Raise InvalidInput if it or a mention names an agent
    that this role may not use, if two are mentioned, or if the two differ.
    """
    if template.manager is None:
        return Routed(agent_for(template, role, agent).name)
    names = [agent.name for agent in agents_for(template, role)]
    mentioned = [agent_for(template, role, name).name for name in find_mentions(message, names)]
    if len(mentioned) > 1:
        raise InvalidInput(
            f"The message addresses {' and '.join(mentioned)}. Write to one agent at a time, or to"
            f" {template.manager.name}, who can ask several."
        )
    if agent is not None:
        asked = agent_for(template, role, agent).name
        if mentioned and mentioned[0] != asked:
            raise InvalidInput(
                f"The message mentions {mentioned[0]} but is sent to {asked}. Choose one of them."
            )
        return Routed(asked, Route(reason=RouteReason.ASKED))
    if mentioned:
        return Routed(mentioned[0], Route(reason=RouteReason.MENTION))
    return Routed(template.manager.name, Route(reason=RouteReason.PENDING))


def find_candidate(template: DomainTemplate, role: str | None, state: JSON) -> str | None:
    """Return the specialist that spoke last, if this role may still use it.

    Its messages may have been summarised or dropped: then the state still names it.
    """
    manager = template.manager.name if template.manager else None
    spoke = (one.get("name") for one in reversed(state["messages"]) if one["role"] == "assistant")
    name = next((one for one in spoke if one and one != manager), state.get(SPECIALIST))
    if name is None:
        return None
    try:
        return agent_for(template, role, name).name
    except InvalidInput:
        return None
