"""The tools that a person has allowed in a conversation once and for all: they ask no more."""

from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from db.models.conversations.conversation import ConversationRow

ALLOWED_TOOLS = "allowed_tools"


def tools_allowed_in(conversation: ConversationRow) -> list[str]:
    """Return the tools that were allowed in a conversation, in the order in which they were."""
    allowed: list[str] = conversation.metadata_.get(ALLOWED_TOOLS, [])
    return allowed


def list_allowed(session: Session, scope: Scope, conversation_id: UUID) -> list[str]:
    """Return the tools that ask no more in a session of the caller. Raise SessionNotFound."""
    conversations.get(session, scope, conversation_id)
    return tools_allowed_in(_conversation(session, conversation_id))


def allow_tool(session: Session, conversation_id: UUID, tool: str) -> bool:
    """Let the tool ask no more; return whether that is new. The caller holds the conversation."""
    allowed = tools_allowed_in(_conversation(session, conversation_id))
    if tool in allowed:
        return False
    _write(session, conversation_id, [*allowed, tool])
    return True


def forbid_tool(session: Session, scope: Scope, conversation_id: UUID, tool: str) -> list[str]:
    """Let the tool ask again, from the next claim on; return those that are left.

    Raise SessionNotFound.
    """
    conversation = conversations.lock(session, scope, conversation_id)
    allowed = tools_allowed_in(conversation)
    left = [name for name in allowed if name != tool]
    if left != allowed:
        _write(session, conversation_id, left)
        audit.record(
            session, scope.user_id, "disallowed", "conversation", conversation_id, {"tool": tool}
        )
    return left


def _conversation(session: Session, conversation_id: UUID) -> ConversationRow:
    query = select(ConversationRow).where(ConversationRow.id == conversation_id)
    return session.scalars(query.execution_options(populate_existing=True)).one()


def _write(session: Session, conversation_id: UUID, allowed: list[str]) -> None:
    merged = ConversationRow.metadata_.op("||")({ALLOWED_TOOLS: allowed})
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == conversation_id)
        .values(metadata_=merged)
        .execution_options(synchronize_session=False)
    )
