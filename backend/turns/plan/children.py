"""The session and turn that run a task: the parent's image with the task's agent alone."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.approvals.allowed_tools import ALLOWED_TOOLS, tools_allowed_in
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.service import Image
from backend.planning.graph import after_turn
from backend.planning.references import ReferenceMissing, find_references, resolve, resolve_text
from backend.planning.results import make_message, with_task
from backend.schemas.conversations.sessions import MAX_MESSAGE_CHARS
from backend.schemas.conversations.turns import ErrorSummary, TurnStatus
from backend.schemas.tasks import OnFailure, TaskStatus
from backend.turns.plan.graph_rows import Graph, TaskNode, change_task, fail_task
from backend.turns.process.announcer import Accepted
from backend.turns.submit.enter import NewTurn, enter
from backend.types import JSON
from colloquy_kit.messages.state import empty_state
from db.models.conversations.conversation import ConversationRow
from db.models.planning.plan import TaskRow


def start_task(session: Session, graph: Graph, node: TaskNode) -> Accepted | None:
    """Begin a task, or retry it in the same session; return None if it has no valid message."""
    row = session.execute(
        select(TaskRow.name, TaskRow.description, TaskRow.input).where(TaskRow.id == node.id)
    ).one()
    try:
        message = _message(session, graph, row.description, row.input)
    except ReferenceMissing as error:
        # Its dependencies' outputs will not change.
        policy = OnFailure(node.on_failure)
        then = after_turn(TurnStatus.FAILED, policy, node.tries, is_hopeless=True)
        reason = ErrorSummary(title="Input missing", detail=str(error))
        fail_task(session, graph, node, then, reason)
        return None
    child = _conversation(session, graph, node, row.name)
    asker = graph.turn
    new = NewTurn(
        owner_id=asker.owner_id,
        agent=node.agent,
        message=message,
        role=asker.role,
        model=asker.model,
    )
    accepted = enter(session, child, new)
    change_task(
        session,
        graph,
        node,
        status=TaskStatus.RUNNING,
        tries=node.tries + 1,
        session_id=child.id,
        turn_id=accepted.turn.id,
        started_at=func.coalesce(TaskRow.started_at, func.clock_timestamp()),
        finished_at=None,
        error=None,
    )
    return accepted


def _message(session: Session, graph: Graph, description: str, given: JSON | None) -> str:
    needed = [one for one in find_references([description, given]) if one not in graph.outputs]
    if needed:
        rows = session.execute(
            select(TaskRow.temp_id, TaskRow.output)
            .where(TaskRow.plan_id == graph.plan_id, TaskRow.temp_id.in_(needed))
            .where(TaskRow.output.is_not(None))
        )
        graph.outputs.update({temp_id: output for temp_id, output in rows if output is not None})
    message = make_message(resolve_text(description, graph.outputs), resolve(given, graph.outputs))
    if len(message) > MAX_MESSAGE_CHARS:
        raise ReferenceMissing(
            f"With its input, the task has {len(message):,} characters; a message may have"
            f" {MAX_MESSAGE_CHARS:,}. Refer to fewer of the outputs of earlier tasks."
        )
    return message


def _conversation(session: Session, graph: Graph, node: TaskNode, name: str) -> ConversationRow:
    """Return the task's session; if it is new, no one else can see it yet."""
    if node.session_id is not None:
        return session.get_one(ConversationRow, node.session_id)
    parent = graph.parent
    owner = Scope(parent.owner_id, teams=frozenset(filter(None, [parent.team])))
    template = _image(parent, node.agent)
    image = Image(parent.domain_id, parent.domain_name, template, parent.domain_version)
    child_id = conversations.create(
        session, owner, image, name, parent_id=parent.id, team=parent.team
    )
    views.begin(session, child_id, empty_state())
    child = session.get_one(ConversationRow, child_id)
    if allowed := tools_allowed_in(parent):
        child.metadata_ = {ALLOWED_TOOLS: allowed}
        session.flush()
    return child


def _image(parent: ConversationRow, agent: str) -> JSON:
    """Return the parent's image reduced to this agent, which calls no others."""
    agents = [
        {
            **one,
            "system_prompt": with_task(
                one.get("system_prompt") or parent.image.get("system_prompt")
            ),
        }
        for one in parent.image["agents"]
        if one["name"] == agent
    ]
    return {**parent.image, "agents": agents, "manager": None}
