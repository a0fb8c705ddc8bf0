"""Resuming plans that were stopped with their turn, when another turn continues that one.

Their calls appear in both views again. Outputs of finished tasks are kept; stopped tasks begin
anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.approvals.store import carry_over
from backend.conversations import display, views
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import load_state
from backend.errors.plans import TasksStopping
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.tasks import PlanStatus, TaskStatus
from backend.turns.plan.graph_rows import change_task, hold_graph
from backend.turns.plan.result import TASKS_STOPPED
from backend.types import JSON
from colloquy_kit.messages.kinds import MessageStatus
from db.models.planning.plan import PlanRow
from db.models.turns.turn import TurnRow


@dataclass(frozen=True)
class RepeatedCall:
    """Calls that are made again: the messages from that point on, and the calls by number."""

    messages: list[JSON]
    message: JSON
    calls: Mapping[int, JSON]


def resume_plans(session: Session, old: TurnRow, turn: UUID, agent: str) -> list[DisplayMessage]:
    """Let a turn resume the plans that were stopped with an older one; return the new rows.

    The caller holds the conversation. Raise TasksStopping while any of their tasks runs.
    """
    stopped = (PlanRow.turn_id == old.id, PlanRow.status == PlanStatus.STOPPED)
    plans = {(row.message_id, row.number): row.id for row in session.scalars(
        select(PlanRow).where(*stopped)
    )}  # fmt: skip
    if not plans:
        return []
    stored = load_state(session, old.conversation_id)
    again = _call_again(stored.state["messages"], plans)
    if again is None:
        return []
    new_id, place = again.message["id"], calling_id(stored.state["messages"])
    for new_number, (number, call) in enumerate(again.calls.items()):
        call_again = {"message_id": new_id, "number": new_number, "call_id": call["id"]}
        _open_again(session, plans[place, number], {"turn_id": turn, **call_again})
        carry_over(session, (old.id, place, number), (turn, new_id, new_number))
    message = {"tool_calls": list(again.calls.values())}
    change = views.Change(
        drafts=display.assistant_drafts(message, agent, MessageStatus.COMPLETED),
        delta=diff_states(stored.state, {**stored.state, "messages": again.messages}),
        version=stored.version,
    )
    return views.append(session, old.conversation_id, turn, change).added


def calling_id(messages: Sequence[JSON]) -> str:
    """Return the id of the model message whose results come last."""
    return str(messages[_calling(messages)].get("id"))


def _call_again(
    messages: Sequence[JSON], plans: Mapping[tuple[str, int], UUID]
) -> RepeatedCall | None:
    """Return the newest calls, repeating those whose plans were stopped; None if there are none.

    The model does not see that they were stopped.
    """
    at = _calling(messages)
    before, results = messages[at], messages[at + 1 :]
    ended = {one["tool_call_id"] for one in results if one.get("content") == TASKS_STOPPED}
    calls = list(enumerate(before.get("tool_calls") or ()))
    stopped = {
        number: {**call, "id": f"call_{uuid4().hex[:24]}"}
        for number, call in calls
        if call["id"] in ended and (str(before.get("id")), number) in plans
    }
    if not stopped:
        return None
    kept, left = list(messages[:at]), [call for n, call in calls if n not in stopped]
    message = {**before, "id": str(uuid4()), "tool_calls": list(stopped.values())}
    if left:
        others = {call["id"] for call in left}
        kept += [{**before, "tool_calls": left}]
        kept += [one for one in results if one["tool_call_id"] in others]
        # Its text and thinking already appear with the calls that remain before it.
        message = {k: v for k, v in message.items() if k in ("role", "id", "name", "tool_calls")}
        message["content"] = None
    return RepeatedCall([*kept, message], message, stopped)


def _calling(messages: Sequence[JSON]) -> int:
    at = len(messages) - 1
    while at > 0 and messages[at]["role"] == "tool":
        at -= 1
    return at


def _open_again(session: Session, plan_id: UUID, call: JSON) -> None:
    graph = hold_graph(session, plan_id)
    if graph is None:
        return
    for node in graph.nodes:
        if node.status == TaskStatus.RUNNING:
            raise TasksStopping
        if node.status in (TaskStatus.STOPPED, TaskStatus.SKIPPED):
            again = {"status": TaskStatus.PENDING, "finished_at": None, "error": None}
            change_task(session, graph, node, **again)
    session.execute(
        update(PlanRow)
        .where(PlanRow.id == plan_id)
        .values(status=PlanStatus.RUNNING, finished_at=None, **call)
        .execution_options(synchronize_session=False)
    )
