"""Which agent a message goes to, as far as its text and its history say: pure rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.agents.team.mentions import find_mentions
from backend.domains.team import agent_for
from backend.errors.base import InvalidInput
from backend.schemas.conversations.turns import Route, RouteReason
from backend.schemas.domains.templates import DomainTemplate
from backend.types import JSON


@dataclass(frozen=True)
class Routed:
    """The agent that has a turn, and why; None where the domain has no manager."""

    agent: str
    route: Route | None = None


def route_message(
    template: DomainTemplate, role: str | None, message: str, agent: str | None
) -> Routed:
    """Return who gets a message by what it says, or the manager for as long as that is open.

    `agent` is the one that the request names. Raise InvalidInput where that or a mention names one
    who is not there for this role, where two are mentioned, and where the two differ.
    """
    if template.manager is None:
        return Routed(agent_for(template, role, agent).name)
    mentioned = [agent_for(template, role, name).name for name in find_mentions(message)]
    if len(mentioned) > 1:
        raise InvalidInput(
            f"The message is to {' and '.join(mentioned)}. Write to one agent at a time, or to"
            f" {template.manager.name}, who asks several."
        )
    if agent is not None:
        asked = agent_for(template, role, agent).name
        if mentioned and mentioned[0] != asked:
            raise InvalidInput(
                f"The message mentions {mentioned[0]} and is sent to {asked}. Choose one of them."
            )
        return Routed(asked, Route(reason=RouteReason.ASKED))
    if mentioned:
        return Routed(mentioned[0], Route(reason=RouteReason.MENTION))
    return Routed(template.manager.name, Route(reason=RouteReason.PENDING))


def find_candidate(
    template: DomainTemplate, role: str | None, messages: Sequence[JSON]
) -> str | None:
    """Return the specialist that spoke last, if it is still there for this role."""
    manager = template.manager.name if template.manager else None
    for message in reversed(messages):
        name = message.get("name") if message["role"] == "assistant" else None
        if name and name != manager:
            try:
                return agent_for(template, role, name).name
            except InvalidInput:
                return None
    return None
