"""The interface by which the manager's tools start plans, and the identity of their calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from langchain_core.tools import ToolException

from backend.planning.form import PlanForm

Kind = Literal["plan", "sub_agent"]


@dataclass(frozen=True)
class CallReference:
    """A call's place: its model message, its number there, and its id."""

    message_id: str
    number: int
    call_id: str


@dataclass(frozen=True)
class PlanCall:
    """The call that starts a plan, and what it asks for."""

    place: CallReference
    kind: Kind
    plan: PlanForm


@dataclass(frozen=True)
class PlanWait:
    """A call that waits for tasks; the value that interrupts the run."""

    place: CallReference
    name: str


class PlanRefused(ToolException):
    """A plan was not started, or an agent has no output, with the reason."""


class Plans(Protocol):
    """Starts plans for one turn, and returns their results."""

    @property
    def agents(self) -> Sequence[str]:
        """Return the agents that the turn's user may use."""

    async def run(self, call: PlanCall) -> str | None:
        """Return the result of this call's plan if it has ended; start the plan if needed.

        Raise PlanRefused if the turn may not start another one, or its agent has no output.
        """
