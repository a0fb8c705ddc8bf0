"""Reads conversations one by one, each as of one moment, and repairs what can be repaired."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from backend.conversations import views
from backend.conversations.display import CallMove
from backend.conversations.messages import list_all
from backend.conversations.search.index import add_missing, count_missing
from backend.conversations.state.store import last_assigned_version, load_state
from backend.errors.conversations import CorruptState, SessionNotFound
from backend.operations.integrity.findings import OPEN, Conversation, Finding, Repair, find_all
from backend.schemas.conversations.sessions import DisplayMessage
from backend.turns.history.rebuild import rebuild_state
from backend.turns.queries import list_unfinished
from colloquy_kit.messages.kinds import ContentType, MessageStatus
from db.models.artifacts.artifact import ArtifactVersionRow
from db.models.conversations.agent_state import AgentStateDeltaRow, AgentStateRow
from db.models.conversations.conversation import ConversationRow
from db.session import Database

BATCH = 500


def conversation_ids(database: Database) -> Iterator[UUID]:
    """Yield the ids of all conversations, in order."""
    last: UUID | None = None
    while True:
        query = select(ConversationRow.id).order_by(ConversationRow.id).limit(BATCH)
        with database.read() as session:
            ids = session.scalars(query if last is None else query.where(ConversationRow.id > last))
            found = list(ids)
        yield from found
        if len(found) < BATCH:
            return
        last = found[-1]


def check(database: Database, conversation_id: UUID) -> list[Finding]:
    """Return what is wrong with a conversation; nothing if it has just been deleted."""
    with database.transaction() as session:
        # Everything is read as of one moment, because a turn may be running.
        session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        try:
            conversation = _read(session, conversation_id)
        except ValidationError as error:
            # Without the values, which are what people wrote.
            names = ", ".join(sorted({str(found["loc"][0]) for found in error.errors()}))
            return [Finding(f"a message of it cannot be read ({names})", Repair.NONE)]
    return find_all(conversation) if conversation else []


def repair_conversation(database: Database, conversation_id: UUID, findings: list[Finding]) -> bool:
    """Repair what can be repaired; return whether all is. Skip a conversation with a turn."""
    with database.transaction() as session:
        held = session.scalar(
            select(ConversationRow.id)
            .where(ConversationRow.id == conversation_id)
            .with_for_update(key_share=True)
        )
        if held is None or list_unfinished(session, conversation_id):
            return False
        repairs = {finding.repair for finding in findings}
        if Repair.REBUILD in repairs:
            rebuild_state(session, conversation_id)
        if Repair.CLOSE in repairs:
            _close_rows(session, conversation_id)
        if Repair.INDEX in repairs:
            add_missing(session, conversation_id)
    return Repair.NONE not in repairs


def _read(session: Session, conversation_id: UUID) -> Conversation | None:
    count = session.scalar(
        select(ConversationRow.message_count).where(ConversationRow.id == conversation_id)
    )
    if count is None:
        return None
    snapshot = session.scalar(
        select(AgentStateRow.version).where(AgentStateRow.conversation_id == conversation_id)
    )
    deltas = AgentStateDeltaRow
    versions = session.scalars(
        select(deltas.version)
        .where(deltas.conversation_id == conversation_id, deltas.version > (snapshot or 0))
        .order_by(deltas.version)
    )
    try:
        state = load_state(session, conversation_id).state
    except (CorruptState, SessionNotFound):
        state = None
    rows = list_all(session, conversation_id)
    return Conversation(
        rows=rows,
        message_count=count,
        state=state,
        snapshot=snapshot or 0,
        versions=list(versions),
        newest=session.scalar(select(last_assigned_version(conversation_id))) or 0,
        has_unfinished_turn=bool(list_unfinished(session, conversation_id)),
        unindexed=count_missing(session, conversation_id),
        unmade=_count_unmade(session, rows),
    )


def _count_unmade(session: Session, rows: Sequence[DisplayMessage]) -> int:
    """Return how many messages name an artifact version that does not exist.

    Messages copied from another session, which have no turn here, may outlive its artifacts.
    """
    named = [
        _version_of(row)
        for row in rows
        if row.content_type is ContentType.ARTIFACT and row.turn_id is not None
    ]
    ids = {one[0] for one in named if one is not None}
    if not named:
        return 0
    kept = ArtifactVersionRow
    found = session.execute(select(kept.artifact_id, kept.version).where(kept.artifact_id.in_(ids)))
    known = set(found.tuples())
    return sum(one not in known for one in named)


def _version_of(row: DisplayMessage) -> tuple[UUID, int] | None:
    """Return the version that a message names, if any."""
    try:
        return UUID(str(row.content["artifact_id"])), int(row.content["version"])
    except (KeyError, TypeError, ValueError):
        return None


def _close_rows(session: Session, conversation_id: UUID) -> None:
    moves = [
        CallMove(row.position, MessageStatus.STOPPED)
        for row in list_all(session, conversation_id)
        if row.status in OPEN
    ]
    views.append(session, conversation_id, None, views.Change(moves=moves))
