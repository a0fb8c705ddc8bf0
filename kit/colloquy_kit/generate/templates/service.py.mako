"""Conversations, for whoever asks: the scope comes first, and another's does not exist.

Written by `colloquy generate`, and yours: what you change is kept when it runs again.
With a `session` a function joins that transaction, else it has one of its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from colloquy_kit.messages.display import Draft
from colloquy_kit.store import conversations, messages, states
from colloquy_kit.store import search as searching
% if owner:
from colloquy_kit.store.errors import NotAllowed
% endif
from colloquy_kit.store.search import Hit
from colloquy_kit.store.states import LoadedState
from colloquy_kit.store.tables import Sessions, Tables
from langchain_core.messages import BaseMessage
% if owner:
from sqlalchemy import ColumnElement, false, true
% else:
from sqlalchemy import ColumnElement, and_, true
% endif
from sqlalchemy.orm import Session

${imports}

TABLES = Tables(Conversation, AgentState, DisplayMessage)
SESSIONS = Sessions()
bind = SESSIONS.bind  # call it once, with a sessionmaker, when the application starts


def visible_to(scope: Scope) -> ColumnElement[bool]:
    """Return which conversations a scope may read and write: the one tenant rule."""
% if owner:
    if scope.type != "${owner_type}":
        return false()
    return Conversation.${owner_field} == scope.id
% else:
    return and_(
        Conversation.scope["type"].as_string() == str(scope.type),
        Conversation.scope["id"].as_string() == str(scope.id),
    )
% endif


def create_conversation(
    scope: Scope,
    values: Mapping[str, Any] | None = None,
    *,
    session: Session | None = None,
) -> Conversation:
    """Create one with its `title` and `metadata`, and return it."""
% if owner:
    if scope.type != "${owner_type}":
        raise NotAllowed("Conversations here belong to a ${owner_type}.")
% endif
    with SESSIONS.transaction(session) as own:
        return conversations.create_conversation(
            own,
            TABLES,
            values,
% if owner:
            owner={"${owner_field}": scope.id},
% endif
            scope={"type": str(scope.type), "id": ${scope_id}},
        )


def get_conversation(
    scope: Scope, conversation_id: UUID, *, session: Session | None = None
) -> Conversation:
    """Return one. Raise NotFound, also for another's, as all functions here do."""
    with SESSIONS.transaction(session) as own:
        return conversations.get_conversation(
            own, TABLES, visible_to(scope), conversation_id
        )


def list_conversations(
    scope: Scope,
    *,
    order_by: str = "-updated_at",
    limit: int = 20,
    after: Conversation | None = None,
    session: Session | None = None,
) -> Sequence[Conversation]:
    """Return a page of them, without states and messages."""
    with SESSIONS.transaction(session) as own:
        return conversations.list_conversations(
            own, TABLES, visible_to(scope), order_by=order_by, limit=limit, after=after
        )


def update_conversation(
    scope: Scope,
    conversation_id: UUID,
    changes: Mapping[str, Any],
    *,
    version: int | None = None,
    session: Session | None = None,
) -> Conversation:
    """Change `title` or `metadata`; given the version read, only if it still is."""
    with SESSIONS.transaction(session) as own:
        return conversations.update_conversation(
            own, TABLES, visible_to(scope), conversation_id, changes, version=version
        )


def delete_conversation(
    scope: Scope, conversation_id: UUID, *, session: Session | None = None
) -> None:
    """Delete one with its state and messages."""
    with SESSIONS.transaction(session) as own:
        conversations.delete_conversation(
            own, TABLES, visible_to(scope), conversation_id
        )


def delete_older_than(
    days: int = 30, *, scope: Scope | None = None, session: Session | None = None
) -> int:
    """Delete what was not used for so many days, everybody's or a scope's."""
    whose = true() if scope is None else visible_to(scope)
    with SESSIONS.transaction(session) as own:
        return conversations.delete_older_than(own, TABLES, whose, days)


def load_agent_state(
    scope: Scope, conversation_id: UUID, *, session: Session | None = None
) -> LoadedState:
    """Return what the model reads: as stored, or empty if there is nothing readable."""
    with SESSIONS.transaction(session) as own:
        return states.load_agent_state(own, TABLES, visible_to(scope), conversation_id)


def save_agent_state(
    scope: Scope,
    conversation_id: UUID,
    state: dict[str, Any],
    *,
    version: int | None = None,
    session: Session | None = None,
) -> int:
    """Save it and return its version; given the version read, only if it still is."""
    with SESSIONS.transaction(session) as own:
        return states.save_agent_state(
            own, TABLES, visible_to(scope), conversation_id, state, version=version
        )


def export_state(
    scope: Scope, conversation_id: UUID, *, session: Session | None = None
) -> dict[str, Any]:
    """Return the state as it is stored, readable or not."""
    with SESSIONS.transaction(session) as own:
        return states.export_state(own, TABLES, visible_to(scope), conversation_id)


def append_display_message(
    scope: Scope,
    conversation_id: UUID,
    message_type: str,
    content_type: str,
    content: dict[str, Any],
    *,
    status: str = "completed",
    metadata: dict[str, Any] | None = None,
    session: Session | None = None,
) -> DisplayMessage:
    """Append one row to what people see."""
    with SESSIONS.transaction(session) as own:
        return messages.append_display_message(
            own,
            TABLES,
            visible_to(scope),
            conversation_id,
            message_type,
            content_type,
            content,
            status=status,
            metadata=metadata,
        )


def append_display_messages(
    scope: Scope,
    conversation_id: UUID,
    drafts: Sequence[Draft],
    *,
    session: Session | None = None,
) -> Sequence[DisplayMessage]:
    """Append the rows of one message, in their order."""
    with SESSIONS.transaction(session) as own:
        return messages.append_display_messages(
            own, TABLES, visible_to(scope), conversation_id, drafts
        )


def save_message(
    scope: Scope,
    conversation_id: UUID,
    message: BaseMessage,
    *,
    session: Session | None = None,
) -> Sequence[DisplayMessage]:
    """Split a message of LangChain into rows and append them; once, by its id."""
    with SESSIONS.transaction(session) as own:
        return messages.save_message(
            own, TABLES, visible_to(scope), conversation_id, message
        )


def change_status(
    scope: Scope, message_id: UUID, status: str, *, session: Session | None = None
) -> DisplayMessage:
    """Move a row's status forward: pending, executing, completed, failed or stopped."""
    with SESSIONS.transaction(session) as own:
        return messages.change_status(
            own, TABLES, visible_to(scope), message_id, status
        )


def load_display_messages(
    scope: Scope,
    conversation_id: UUID,
    *,
    limit: int | None = None,
    before: DisplayMessage | None = None,
    session: Session | None = None,
) -> Sequence[DisplayMessage]:
    """Return what people see, oldest first; with a limit the latest rows."""
    with SESSIONS.transaction(session) as own:
        return messages.load_display_messages(
            own,
            TABLES,
            visible_to(scope),
            conversation_id,
            limit=limit,
            before=before,
        )


def clear_display_messages(
    scope: Scope, conversation_id: UUID, *, session: Session | None = None
) -> int:
    """Delete what people see, and return how much; the agent state stays."""
    with SESSIONS.transaction(session) as own:
        return messages.clear_display_messages(
            own, TABLES, visible_to(scope), conversation_id
        )


def search(
    scope: Scope, words: str, *, limit: int = 20, session: Session | None = None
) -> Sequence[Hit[Conversation, DisplayMessage]]:
    """Return where all words occur, in titles and texts, the latest first."""
    with SESSIONS.transaction(session) as own:
        return searching.search(own, TABLES, visible_to(scope), words, limit=limit)
