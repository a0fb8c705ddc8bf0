"""Stores a prepared conversation in one transaction, once: importing it again finds it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast
from uuid import UUID

from sqlalchemy import Table, func, insert, null, text, update
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.service import Image
from backend.imports.attachments import Attachments
from backend.imports.model import ImportedConversation, StoredConversation
from backend.imports.prepare import Prepared, digest_of
from backend.turns.submit.enter import title_of
from backend.types import JSON
from colloquy_kit.messages.kinds import ContentType, MessageType
from db.models.conversations.branch import BranchRow
from db.models.conversations.conversation import ConversationRow
from db.models.imports import ImportedConversationRow
from db.models.turns.turn import TurnRow

ORIGIN = "imported"  # in the metadata of a conversation
LONGEST_ID = 500
_BATCH = 500
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtextextended('colloquy import ' || :who, 0))")


class Outcome(StrEnum):
    """What became of a conversation."""

    IMPORTED = "imported"
    KNOWN = "known"  # it was imported before, and is the same
    CHANGED = "changed"  # it was imported before, and has changed since: it was not taken again
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Written:
    """What became of a conversation, in which session it is, and what is to be said of it."""

    outcome: Outcome
    session_id: UUID | None = None
    notes: list[str] = field(default_factory=list)


def lock_owner(session: Session, scope: Scope) -> None:
    """Let one import of a person after the other store a conversation."""
    session.execute(_ONE_BY_ONE, {"who": scope.user_id})


def find_known(
    session: Session, scope: Scope, conversation: ImportedConversation | StoredConversation
) -> Written | None:
    """Return where the caller has imported a conversation to, if they have."""
    key = (scope.user_id, conversation.source, conversation.source_id[:LONGEST_ID])
    known = session.get(ImportedConversationRow, key)
    if known is None:
        return None
    if isinstance(conversation, StoredConversation):
        digest, count = conversation.digest, len(conversation.records["message"])
    else:
        digest, count = digest_of(conversation), len(conversation.messages)
    if known.digest == digest:
        return Written(Outcome.KNOWN, known.conversation_id)
    note = (
        f"It has {count:,} messages now, and had {known.messages:,} when it was imported."
        " To take it as it is now, delete its session and import it again."
    )
    return Written(Outcome.CHANGED, known.conversation_id, [note])


def store(
    session: Session,
    scope: Scope,
    image: Image,
    prepared: Prepared,
    attachments: Attachments | None = None,
) -> Written:
    """Store a conversation as the caller's, unless they have it already.

    `prepared` was made with the first agent of the image. Call `undo` of the attachments if the
    transaction fails.
    """
    said = prepared.conversation
    lock_owner(session, scope)
    if known := find_known(session, scope, said):
        return known
    conversations.create(session, scope, image, said.title or _first_words(prepared), prepared.id)
    notes = list(prepared.notes)
    results: Iterable[JSON] = ()
    if attachments is not None:
        results = attachments.add(session, scope, prepared.id, prepared.files, prepared.rows, notes)
    views.bring_in(
        session,
        prepared.id,
        views.History(prepared.rows, results, prepared.deltas, prepared.state, prepared.version),
    )
    _add_turns(session, scope, prepared)
    _finish(session, prepared)
    note_origin(session, scope, said, prepared.id, prepared.digest, len(said.messages))
    return Written(Outcome.IMPORTED, prepared.id, notes)


def _first_words(prepared: Prepared) -> str:
    """Return the title of a conversation that has none there, as that of one begun here."""
    texts = (
        row["content"]["text"]
        for row in prepared.rows
        if row["message_type"] == MessageType.USER and row["content_type"] == ContentType.TEXT
    )
    return title_of(next(texts, ""))


def note_origin(
    session: Session,
    scope: Scope,
    said: ImportedConversation | StoredConversation,
    conversation_id: UUID,
    digest: str,
    messages: int,
) -> None:
    """Note where a conversation came from, so that importing it again finds it."""
    session.execute(
        insert(ImportedConversationRow).values(
            owner_id=scope.user_id,
            source=said.source,
            source_id=said.source_id[:LONGEST_ID],
            conversation_id=conversation_id,
            digest=digest,
            messages=messages,
        )
    )


def _add_turns(session: Session, scope: Scope, prepared: Prepared) -> None:
    whose = {"conversation_id": prepared.id, "owner_id": scope.user_id, "role": scope.role}
    for of, rows in ((_TURNS, prepared.turns), (_BRANCHES, prepared.branches)):
        own = whose if of is _TURNS else {"conversation_id": prepared.id}
        for first in range(0, len(rows), _BATCH):
            session.execute(of, [{**row, **own} for row in rows[first : first + _BATCH]])


def _finish(session: Session, prepared: Prepared) -> None:
    said = prepared.conversation
    origin = {"source": said.source, "source_id": said.source_id[:LONGEST_ID]}
    if said.model:
        origin["model"] = said.model[:200]
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == prepared.id)
        .values(
            created_at=prepared.created_at,
            updated_at=prepared.updated_at,
            last_accessed_at=func.clock_timestamp(),  # so that retention does not take it at once
            branch=prepared.branch,
            path=null() if prepared.path is None else prepared.path,
            metadata_={ORIGIN: origin},
        )
        .execution_options(synchronize_session=False)
    )


_TURNS = insert(cast(Table, TurnRow.__table__))
_BRANCHES = insert(cast(Table, BranchRow.__table__))
