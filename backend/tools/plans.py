"""What starts plans for a turn, and how their calls are named: the port of the manager's tools."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from langchain_core.tools import ToolException

from backend.planning.form import PlanForm

Kind = Literal["plan", "sub_agent"]


@dataclass(frozen=True)
class CallPlace:
    """Where a call stands: its model message, its number there, and its id."""

    message_id: str
    number: int
    call_id: str


@dataclass(frozen=True)
class PlanCall:
    """The call that a plan is started by, and what it asks for."""

    place: CallPlace
    kind: Kind
    plan: PlanForm


@dataclass(frozen=True)
class PlanWait:
    """A call that waits for tasks; what a run is interrupted with."""

    place: CallPlace
    name: str


class PlanRefused(ToolException):
    """A plan was not started, or an agent gave nothing, for a reason in words."""


class Plans(Protocol):
    """Starts plans for one turn, and knows what became of them."""

    @property
    def agents(self) -> Sequence[str]:
        """The agents that the turn's person may use."""

    async def run(self, call: PlanCall) -> str | None:
        """Return what the plan of this call gave, once it has ended; it is started if it is not.

        Raise PlanRefused where the turn may not start another one, or its agent gave nothing.
        """
