"""The tools that a person has always allowed in a conversation: they no longer ask."""

from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.removal import hold_children
from db.models.conversations.conversation import ConversationRow

ALLOWED_TOOLS = "allowed_tools"


def tools_allowed_in(conversation: ConversationRow) -> list[str]:
    """Return the tools allowed in a conversation, in the order in which they were allowed."""
    allowed: list[str] = conversation.metadata_.get(ALLOWED_TOOLS, [])
    return allowed


def list_allowed(session: Session, scope: Scope, conversation_id: UUID) -> list[str]:
    """Return the tools that no longer ask in a session of the caller. Raise SessionNotFound."""
    conversations.check_visible(session, scope, conversation_id)
    return tools_allowed_in(_conversation(session, conversation_id))


def allow_tool(session: Session, conversation_id: UUID, tool: str) -> bool:
    """Allow the tool from now on; return whether that is new. The caller holds the conversation."""
    allowed = tools_allowed_in(_conversation(session, conversation_id))
    if tool in allowed:
        return False
    _write(session, conversation_id, [*allowed, tool])
    return True


def forbid_tool(session: Session, scope: Scope, conversation_id: UUID, tool: str) -> list[str]:
    """Make the tool ask again, in tasks too, from the next claim on; return those still allowed.

    Raise SessionNotFound.
    """
    tasks = hold_children(session, conversation_id)
    conversation = conversations.lock(session, scope, conversation_id)
    for task in tasks:
        _remove(session, _conversation(session, task), tool)
    if _remove(session, conversation, tool):
        audit.record(
            session, scope.user_id, "disallowed", "conversation", conversation_id, {"tool": tool}
        )
    return list_allowed(session, scope, conversation_id)


def _remove(session: Session, conversation: ConversationRow, tool: str) -> bool:
    """Remove a tool from those allowed; return whether it was one of them."""
    allowed = tools_allowed_in(conversation)
    if tool not in allowed:
        return False
    _write(session, conversation.id, [name for name in allowed if name != tool])
    return True


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
