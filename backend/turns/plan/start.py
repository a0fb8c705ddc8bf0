"""Starting plans for a running turn's calls, once for each call, and returning their results."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid4

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from backend.errors.turns import LeaseLost
from backend.logs.fields import as_known_here
from backend.planning.checks import find_agent, needs_of
from backend.planning.graph import find_ready
from backend.tools.plans import PlanCall, PlanRefused
from backend.turns.ownership import OWNED, TURNS, attempt_key, hold_conversation
from backend.turns.plan.graph_rows import OPEN_PLANS, PlanChanges, hold_graph
from backend.turns.plan.moving import advance
from backend.turns.plan.publish import publish_plan_changes
from backend.turns.plan.result import result_of
from backend.turns.process.services import Services
from backend.types import JSON
from db.failpoints import failpoint
from db.models.planning.plan import PlanRow, TaskRow

MOST_PLANS = 20  # of one turn
_STARTERS = ThreadPoolExecutor(4, thread_name_prefix="plans")


@dataclass(frozen=True)
class TurnPlans:
    """Starts plans for one attempt of a turn; `agents` are those that its user may use."""

    services: Services
    conversation_id: UUID
    turn_id: UUID
    attempt: int
    agents: Sequence[str]

    async def run(self, call: PlanCall) -> str | None:
        """Return the result of this call's plan if it has ended; start the plan if needed.

        Raise PlanRefused beyond the limit of plans, and for an agent without an output; LeaseLost
        when this attempt may not write.
        """
        # Not on the loop's default executor: hung tools may hold all of its threads.
        loop = asyncio.get_running_loop()
        start = as_known_here(partial(self._find_or_start, call))
        return await loop.run_in_executor(_STARTERS, start)

    def _find_or_start(self, call: PlanCall) -> str | None:
        database, patience = self.services.database, self.services.settings.lease_seconds
        started: list[PlanChanges] = []

        def write(session: Session) -> str | None:
            started.clear()
            self._hold(session)
            plan = _find(session, self.turn_id, call)
            if plan is None:
                started.append(self._start(session, call))
                return None
            if plan.status in OPEN_PLANS:
                started.extend(_go_on(session, plan))
            return None if plan.status in OPEN_PLANS else result_of(session, plan)

        result = database.retry_transaction(write, patience)
        for changes in started:
            failpoint("plan.started")
            publish_plan_changes(self.services, changes)
        return result

    def _hold(self, session: Session) -> None:
        """Hold the conversation and the turn. Raise LeaseLost."""
        hold_conversation(session, self.conversation_id)
        own = select(TURNS.c.id).where(OWNED).with_for_update(key_share=True)
        if session.scalar(own, attempt_key(self.turn_id, self.attempt)) is None:
            raise LeaseLost

    def _start(self, session: Session, call: PlanCall) -> PlanChanges:
        query = select(func.count()).where(PlanRow.turn_id == self.turn_id)
        if session.execute(query).scalar_one() >= MOST_PLANS:
            raise PlanRefused(
                f"Nothing was run: this turn has started {MOST_PLANS} plans and agents, the most"
                " that one turn may. Answer with what there is, and say what is missing."
            )
        plan_id = uuid4()
        session.execute(
            insert(PlanRow).values(
                id=plan_id,
                conversation_id=self.conversation_id,
                turn_id=self.turn_id,
                message_id=call.place.message_id,
                number=call.place.number,
                call_id=call.place.call_id,
                kind=call.kind,
                name=call.plan.workflowName,
                reasoning=call.plan.reasoning,
            )
        )
        session.execute(insert(TaskRow), self._rows(plan_id, call))
        graph = hold_graph(session, plan_id)
        if graph is None:
            raise LeaseLost
        graph.changed.update(node.id for node in graph.nodes)
        return advance(session, graph)

    def _rows(self, plan_id: UUID, call: PlanCall) -> list[JSON]:
        needs = needs_of(call.plan)
        return [
            {
                "id": uuid4(),
                "plan_id": plan_id,
                "conversation_id": self.conversation_id,
                "place": place,
                "temp_id": task.tempId,
                "name": task.name,
                "description": task.description,
                "agent": find_agent(task.agentName, self.agents) or task.agentName,
                "depends_on": needs[task.tempId],
                "input": task.input,
                "on_failure": task.onFailure,
            }
            for place, task in enumerate(call.plan.tasks)
        ]


def _go_on(session: Session, plan: PlanRow) -> list[PlanChanges]:
    """Begin the ready tasks of a plan that is already open because it was resumed."""
    graph = hold_graph(session, plan.id)
    if graph is None:
        return []
    if find_ready(graph.nodes):
        graph.changed.update(node.id for node in graph.nodes)
    changes = advance(session, graph)
    session.refresh(plan)
    return [changes] if changes.tasks else []


def _find(session: Session, turn_id: UUID, call: PlanCall) -> PlanRow | None:
    return session.scalar(
        select(PlanRow).where(
            PlanRow.turn_id == turn_id,
            PlanRow.message_id == call.place.message_id,
            PlanRow.number == call.place.number,
        )
    )
