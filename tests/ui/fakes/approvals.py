"""The part of the fake API that is about calls that wait for a person."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from backend.schemas.approvals import (
    AllowedTools,
    Approval,
    ApprovalPage,
    ApprovalStatus,
    Decision,
    DecisionType,
    InterruptContent,
    InterruptOutcome,
)
from backend.schemas.conversations.sessions import Problem
from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.events import MessageUpdated
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType

MAIL = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["to"],
}


class FakeApprovals:
    """What the fake knows of approvals; tests fill it and read it."""

    def __init__(self, store):
        self.store = store
        self.items: dict[UUID, Approval] = {}
        self.allowed: dict[UUID, list[str]] = {}
        self.decisions: list[Decision] = []

    def ask(self, turn, arguments, name="send_mail", schema=MAIL, **fields) -> Approval:
        """Let a turn wait for a decision on one more call."""
        session, store = self.store.sessions[turn.session_id], self.store
        parent = store.sessions.get(session.parent_id)
        call = {"call_id": f"c{len(self.items)}", "name": name, "arguments": arguments}
        store.add_row(
            session, MessageType.ASSISTANT, ContentType.TOOL_CALL, call, turn,
            status=MessageStatus.PENDING, agent="Analyst",
        )  # fmt: skip
        approval = Approval.model_validate({
            "id": uuid4(), "session_id": session.id, "session_title": session.title,
            "parent_title": parent and parent.title,
            "owner": session.owner, "turn_id": turn.id, "agent": "Analyst",
            "message": turn.message, "position": len(store.rows[session.id]) + 1, **call,
            "arguments_hash": f"hash of {arguments}", "description": f"Runs {name}.",
            "allowed_decisions": list(DecisionType), "args_schema": schema,
            "status": ApprovalStatus.PENDING, "decision": None, "decided_by": None,
            "decided_at": None, "expires_at": None, "created_at": datetime.now(UTC),
        } | fields)  # fmt: skip
        self.items[approval.id] = approval
        content = InterruptContent.read(approval.model_dump() | {"approval_id": approval.id})
        store.add_row(
            session, MessageType.SYSTEM, ContentType.INTERRUPT, content.model_dump(mode="json"),
            turn, status=MessageStatus.PENDING, agent="Analyst",
        )  # fmt: skip
        turn.status = session.status = TurnStatus.WAITING
        self.count()
        return approval

    def decide(self, approval, decision, by="local"):
        """Write down what somebody has decided."""
        approval.status, approval.decided_by = ApprovalStatus.DECIDED, by
        approval.decision, approval.decided_at = decision, datetime.now(UTC)
        self.decisions.append(decision)
        if decision.remember:
            self.allowed.setdefault(approval.session_id, []).append(approval.name)
        edited = decision.edited_action
        row = self.store.rows[approval.session_id][approval.position - 1]
        row.status = MessageStatus.COMPLETED
        row.metadata = InterruptOutcome(
            outcome=ApprovalStatus.DECIDED, decision=decision.type, decided_by=by,
            decided_at=approval.decided_at, message=decision.message,
            edited_arguments=edited.args if edited else None, remember=decision.remember,
        ).model_dump(mode="json", exclude_defaults=True)  # fmt: skip
        turn = self.store.turns[approval.turn_id]
        self.store.publish(turn, MessageUpdated, message=row)
        self.count()
        if not [item for item in self.pending() if item.turn_id == turn.id]:
            self.store.finish(turn)

    def pending(self) -> list[Approval]:
        return [one for one in self.items.values() if one.status is ApprovalStatus.PENDING]

    def count(self):
        mine = [one for one in self.pending() if one.owner == self.store.server.user]
        self.store.server.pending_approvals = len(mine)


def add_approval_routes(app: FastAPI, approvals: FakeApprovals, api: str) -> None:
    @app.get(f"{api}/approvals")
    def listed(limit: int = 50, cursor: str | None = None, scope: str = "mine") -> ApprovalPage:
        user, start = approvals.store.server.user, int(cursor or 0)
        found = [one for one in approvals.pending() if scope == "all" or one.owner == user]
        more = len(found) > start + limit
        items = found[start : start + limit]
        return ApprovalPage(items=items, next_cursor=str(start + limit) if more else None)

    @app.get(f"{api}/approvals/{{approval_id}}")
    def one(approval_id: UUID) -> Approval:
        return approvals.items[approval_id]

    @app.post(f"{api}/approvals/{{approval_id}}/decision")
    def decide(approval_id: UUID, body: Decision):
        approval = approvals.items[approval_id]
        if approval.status is not ApprovalStatus.PENDING:
            return problem("Already decided", f"{approval.decided_by} has already decided.")
        if body.arguments_hash != approval.arguments_hash:
            return problem("Arguments changed", "These are not the arguments that wait.")
        approvals.decide(approval, body)
        return approval

    @app.get(f"{api}/sessions/{{session_id}}/allowed_tools")
    def allowed(session_id: UUID) -> AllowedTools:
        return AllowedTools(allowed_tools=approvals.allowed.get(session_id, []))

    @app.delete(f"{api}/sessions/{{session_id}}/allowed_tools/{{tool}}")
    def ask_again(session_id: UUID, tool: str) -> AllowedTools:
        approvals.allowed[session_id].remove(tool)
        return allowed(session_id)


def problem(title, detail):
    body = Problem(title=title, status=409, detail=detail).model_dump()
    return JSONResponse(body, 409, media_type="application/problem+json")
