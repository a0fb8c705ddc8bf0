"""The team of a session: its agents, and how each turn was routed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from backend.schemas.conversations.sessions import Session
from backend.schemas.conversations.turns import Route, Turn
from backend.schemas.domains.agents import AgentInfo
from backend.schemas.domains.templates import Domain
from backend.schemas.usage import TurnFigures
from ui import state
from ui.client import ClientError
from ui.features.agents import calls


@dataclass(frozen=True)
class Assigned:
    """The agent of a turn, and how the turn was routed to it."""

    agent: str | None
    route: Route | None


@dataclass(frozen=True)
class Team:
    """The agents that a person may write to; `turns` has the agent of each turn, by turn id."""

    agents: tuple[AgentInfo, ...] = ()
    turns: Mapping[UUID, Assigned] = field(default_factory=dict)

    @property
    def manager(self) -> str | None:
        """The name of the manager, if there is one."""
        return next((agent.name for agent in self.agents if agent.is_manager), None)

    @property
    def is_named(self) -> bool:
        """Whether answers name their agent: with a single agent there is no need."""
        return len(self.agents) > 1 or self.manager is not None

    def route(self, turn_id: UUID | None, agent: str) -> Route | None:
        """Return how a turn was routed to this agent; None where another agent has it."""
        assigned = self.turns.get(turn_id) if turn_id else None
        return assigned.route if assigned and assigned.agent in (agent, None) else None

    def with_turns(self, turns: Iterable[Turn | TurnFigures]) -> "Team":
        """Return the team with the agents of these turns added."""
        more = {
            turn.id if isinstance(turn, Turn) else turn.turn_id: Assigned(turn.agent, turn.route)
            for turn in turns
        }
        return replace(self, turns={**self.turns, **more})


def of_session(session: Session) -> Team:
    """Return the agents of a session; read once per tab, because they never change."""
    known = state.memory().teams
    if session.id not in known:
        try:
            known[session.id] = tuple(calls.session_agents(state.client(), session.id).items)
        except ClientError:
            return Team()  # rather a page without agents' names than none
    return Team(known[session.id])


def of_domain(domain: Domain | None) -> Team:
    """Return the agents of a domain's new chats; read once per tab and version."""
    if domain is None:
        return Team()
    known, key = state.memory().domain_teams, (domain.id, domain.version)
    if key not in known:
        try:
            known[key] = tuple(calls.domain_agents(state.client(), domain.id).items)
        except ClientError:
            return Team()
    return Team(known[key])
