"""Who speaks in a session: its agents, and how each turn found its own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from backend.schemas.conversations.sessions import DisplayMessage, Session
from backend.schemas.conversations.turns import Route, Turn
from backend.schemas.domains.agents import AgentInfo
from backend.schemas.domains.templates import Domain
from backend.schemas.usage import TurnFigures
from ui import state
from ui.client import ClientError
from ui.features.agents import calls


@dataclass(frozen=True)
class Assigned:
    """The agent that has a turn, and how the turn found it."""

    agent: str | None
    route: Route | None


@dataclass(frozen=True)
class Team:
    """The agents that a person may write to; `turns` says who has which turn, by its id.

    `has_several`: more than one has spoken, where nothing else is known of them.
    """

    agents: tuple[AgentInfo, ...] = ()
    turns: Mapping[UUID, Assigned] = field(default_factory=dict)
    has_several: bool = False

    @property
    def manager(self) -> str | None:
        """The name of the manager, if there is one."""
        return next((agent.name for agent in self.agents if agent.is_manager), None)

    @property
    def is_named(self) -> bool:
        """Whether answers say who gave them: with one agent everybody knows."""
        return self.has_several or len(self.agents) > 1 or self.manager is not None

    def route(self, turn_id: UUID | None, agent: str) -> Route | None:
        """Return how a turn has found this agent; None where another one has it."""
        assigned = self.turns.get(turn_id) if turn_id else None
        return assigned.route if assigned and assigned.agent in (agent, None) else None

    def with_turns(self, turns: Iterable[Turn | TurnFigures]) -> "Team":
        """Return the team with what is known of these turns."""
        more = {
            turn.id if isinstance(turn, Turn) else turn.turn_id: Assigned(turn.agent, turn.route)
            for turn in turns
        }
        return replace(self, turns={**self.turns, **more})


def of_rows(rows: Iterable[DisplayMessage]) -> Team:
    """Return what the rows tell of a team, for those who may read them and nothing else."""
    return Team(has_several=len({row.agent for row in rows if row.agent}) > 1)


def of_session(session: Session) -> Team:
    """Return the agents of a session; a tab asks once, since they never change."""
    known = state.memory().teams
    if session.id not in known:
        try:
            known[session.id] = tuple(calls.session_agents(state.client(), session.id).items)
        except ClientError:
            return Team()  # names beside answers are not worth a page without answers
    return Team(known[session.id])


def of_domain(domain: Domain | None) -> Team:
    """Return the agents that a new chat of a domain has; a tab asks once for each version."""
    if domain is None:
        return Team()
    known, key = state.memory().domain_teams, (domain.id, domain.version)
    if key not in known:
        try:
            known[key] = tuple(calls.domain_agents(state.client(), domain.id).items)
        except ClientError:
            return Team()
    return Team(known[key])
