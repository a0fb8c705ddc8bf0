"""How a person's message enters a conversation: both views in one transaction."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, bindparam, func, update
from sqlalchemy.orm import Session

from backend.agents.state import user_message
from backend.auth.scope import Scope
from backend.conversations.delta import diff_states
from backend.conversations.display import user_text
from backend.conversations.messages import add_messages, row_of, shown_as
from backend.conversations.service import clean_title
from backend.conversations.shown import MARK, pack_delta
from backend.conversations.state_store import append_delta, append_to_latest, load_state
from backend.domains.template import DEFAULT_AGENT
from backend.errors import SessionNotFound
from backend.schemas.sessions import DisplayMessage, EventContext, Turn, TurnStatus, Usage
from db.models.conversation import ConversationRow
from db.models.turn import UNFINISHED, TurnRow
from db.session import Prepared, dump_json

JSON = dict[str, Any]
TITLE_CHARS = 60


@dataclass(frozen=True)
class Entered:
    """A turn as it was stored; `shown` is its message, if no other turn is before it."""

    turn: Turn
    context: EventContext
    shown: DisplayMessage | None


def enter_turn(session: Session, scope: Scope, conversation_id: UUID, asked: JSON) -> Entered:
    """Store a new turn of the caller's session and, if it is next, its message in both views.

    `asked` has the columns that a person decides; without an agent the session's first is asked.
    One round trip, planned once: everybody takes this path. Raises SessionNotFound.
    """
    turn_id, message = uuid4(), asked["message"]
    row = row_of(user_text(message), conversation_id, turn_id, _NO_POSITION, _NO_TIME)
    shown = shown_as(row)
    said = user_message(message, str(uuid4()))
    place = _ENTER.rows(
        session,
        {
            "held": conversation_id,
            "caller": None if scope.is_admin else scope.user_id,
            "turn": dump_json({**asked, "id": turn_id, "owner_id": scope.user_id}),
            "message": dump_json({**row, "metadata": shown.metadata}),
            "delta": dump_json(pack_delta({"append": [said]}, [shown])),
            "title": title_of(message),
        },
    ).one_or_none()
    if place is None:
        raise SessionNotFound
    turn = _queued(turn_id, conversation_id, asked, place)
    context = EventContext(
        domain_id=place.domain_id,
        session_id=conversation_id,
        image_id=place.image_id,
        agent_id=turn.agent,
        turn_id=turn_id,
    )
    if place.before:
        return Entered(turn, context, None)
    there = {"position": place.position, "created_at": place.now}
    return Entered(turn, context, shown.model_copy(update=there))


def enter_message(session: Session, turn: TurnRow) -> DisplayMessage:
    """Add the message of a turn that had to wait to both views, now that it is next.

    The caller holds the conversation's lock, and writes the turn, which has its position now.
    Raises SessionNotFound when the conversation is gone.
    """
    (shown,) = add_messages(session, turn.conversation_id, turn.id, [user_text(turn.message)])
    said = user_message(turn.message, str(uuid4()))
    delta = {"append": [said]}
    turn.state_version = append_to_latest(session, turn.conversation_id, delta, [shown])
    turn.message_position = shown.position
    return shown


def reopen_answer(session: Session, conversation_id: UUID) -> None:
    """Let the agent answer again: an answer that broke off leaves what the model reads.

    People go on seeing it. The caller holds the conversation's lock.
    """
    stored = load_state(session, conversation_id)
    kept = list(stored.state["messages"])
    while kept and kept[-1]["role"] == "assistant" and not kept[-1].get("tool_calls"):
        kept.pop()
    if delta := diff_states(stored.state, {**stored.state, "messages": kept}):
        append_delta(session, conversation_id, stored.version, delta)


def touch(session: Session, conversation: ConversationRow, message: str) -> None:
    """Bring the conversation to the top of the list, and name it if it has no name."""
    title = conversation.title or title_of(message)
    session.execute(_TOUCH, {"held_id": conversation.id, "title": title})


def title_of(message: str) -> str:
    """A title from the first line of a message, cut at a word."""
    line = clean_title(message.strip().split("\n", 1)[0])
    if len(line) <= TITLE_CHARS:
        return line
    cut = line[:TITLE_CHARS].rsplit(" ", 1)[0]
    return f"{cut}…"


def _queued(turn_id: UUID, conversation_id: UUID, asked: JSON, place: Row[Any]) -> Turn:
    """The new turn on the wire; that it was stored so need not be read back."""
    return Turn(
        id=turn_id,
        session_id=conversation_id,
        status=TurnStatus.QUEUED,
        agent=asked["agent"] or place.first_agent,
        message=asked["message"],
        usage=Usage(),
        error=None,
        attempts=0,
        steps=0,
        queue_position=place.before,
        created_at=place.now,
        started_at=None,
        finished_at=None,
    )


_NO_POSITION, _NO_TIME = 0, datetime.fromtimestamp(0, UTC)  # the database gives both
_TOUCH = (
    update(ConversationRow)
    .where(ConversationRow.id == bindparam("held_id"))
    .values(title=bindparam("title"), archived=False, updated_at=func.clock_timestamp())
)
# To hold and to enter are two statements, sent together: one that has waited for a lock sees the
# other rows as they were before.
_ENTER = Prepared(
    name="enter_turn",
    types="uuid, text, jsonb, jsonb, jsonb, text",
    statement=f"""
    WITH held AS (
        SELECT domain_id, image_id, title, message_count, clock_timestamp() AS now,
            coalesce(image #>> '{{agents,0,name}}', '{DEFAULT_AGENT}') AS first_agent,
            coalesce(
                (SELECT max(version) FROM agent_state_deltas WHERE conversation_id = $1),
                (SELECT version FROM agent_state_snapshots WHERE conversation_id = $1)
            ) AS version,
            (SELECT count(*) FROM turns WHERE conversation_id = $1 AND {UNFINISHED}) AS before
        FROM conversations WHERE id = $1 AND ($2 IS NULL OR owner_id = $2)
    ), place AS (
        SELECT held.*,
            CASE WHEN before = 0 THEN message_count + 1 END AS position,
            CASE WHEN before = 0 THEN version + 1 END AS state_version
        FROM held
    ), touched AS (
        UPDATE conversations SET
            message_count = coalesce(place.position, place.message_count),
            title = coalesce(nullif(place.title, ''), $6),
            archived = false,
            updated_at = place.now
        FROM place WHERE id = $1
    ), entered AS (
        INSERT INTO turns (
            id, conversation_id, owner_id, agent, message, idempotency_key, body_hash, created_at,
            message_position, state_version)
        SELECT asked.id, $1, asked.owner_id, coalesce(asked.agent, place.first_agent),
            asked.message, asked.idempotency_key, asked.body_hash, place.now,
            place.position, place.state_version
        FROM place, jsonb_populate_record(NULL::turns, $3) AS asked
    ), shown AS (
        INSERT INTO display_messages (
            conversation_id, position, id, turn_id, message_type, content_type, content, sequence,
            status, agent, metadata, created_at)
        SELECT $1, place.position, said.id, said.turn_id, said.message_type, said.content_type,
            said.content, said.sequence, said.status, said.agent, said.metadata, place.now
        FROM place, jsonb_populate_record(NULL::display_messages, $4) AS said
        WHERE place.before = 0
    ), saved AS (
        INSERT INTO agent_state_deltas (conversation_id, version, delta)
        SELECT $1, place.state_version,
            jsonb_set($5, '{{append,0,content,{MARK}}}', to_jsonb(place.position), false)
        FROM place WHERE place.before = 0
    )
    SELECT domain_id, image_id, first_agent, before, position, now FROM place
    """,  # noqa: S608  (what is put in are constants)
    # A plan is kept while tables grow, so it must not read one whole because that was small.
    run="""
    SET LOCAL enable_seqscan = off;
    SELECT FROM conversations
    WHERE id = %(held)s AND (%(caller)s IS NULL OR owner_id = %(caller)s) FOR NO KEY UPDATE;
    EXECUTE enter_turn (
        %(held)s, %(caller)s, %(turn)s, %(message)s, %(delta)s, %(title)s)
    """,
)
