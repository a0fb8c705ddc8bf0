"""How a new turn enters a conversation: itself, and its message in both views, in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.agents.state import user_message
from backend.auth.scope import Scope
from backend.conversations.display import user_text
from backend.conversations.messages import row_of, shown_as
from backend.conversations.state.shown import MARK, pack_delta
from backend.domains.template import DEFAULT_AGENT
from backend.errors import SessionNotFound
from backend.schemas.sessions import DisplayMessage, EventContext, Turn, TurnStatus, Usage
from backend.turns.submit.message import title_of
from db.models.turn import UNFINISHED
from db.session import Prepared, dump_json

JSON = dict[str, Any]


@dataclass(frozen=True, eq=False)
class NewTurn:
    """A new turn of the caller's session.

    `asked` has the columns that a person decides; without an agent the session's first is asked.
    """

    scope: Scope
    conversation_id: UUID
    asked: JSON


@dataclass(frozen=True)
class Accepted:
    """A turn as it was stored, with the row that its message became, if it did at once.

    `context` is None for a turn that was accepted, and announced, before.
    """

    turn: Turn
    context: EventContext | None = None
    shown: DisplayMessage | None = None
    is_next: bool = False


def enter_turn(session: Session, entering: NewTurn) -> Accepted:
    """Store a new turn and, if it is next, its message in both views. Raises SessionNotFound."""
    (accepted,) = _enter(session, [entering], _WAIT)
    if accepted is None:
        raise SessionNotFound
    return accepted


def enter_turns(session: Session, entering: Sequence[NewTurn]) -> list[Accepted | None]:
    """The same for several sessions, each named once, without waiting for any of them.

    None for a session that is not there, and for one that somebody else writes to just now.
    """
    return _enter(session, entering, _PASS_BY)


def _enter(session: Session, entering: Sequence[NewTurn], hold: str) -> list[Accepted | None]:
    new = [_New(one) for one in entering]
    values = {
        "ids": [str(one.conversation_id) for one in entering],
        "entering": dump_json([one.stored for one in new]),
    }
    places = {place.held: place for place in _ENTER.rows(session, values, before=hold)}
    return [
        one.at(places[one.conversation_id]) if one.conversation_id in places else None
        for one in new
    ]


class _New:
    """A turn and its message, before the database has given them their places."""

    def __init__(self, entering: NewTurn) -> None:
        scope, self.conversation_id = entering.scope, entering.conversation_id
        self._id, self._asked, message = uuid4(), entering.asked, entering.asked["message"]
        row = row_of(user_text(message), self.conversation_id, self._id, _NO_POSITION, _NO_TIME)
        self._shown = shown_as(row)
        said = user_message(message, str(uuid4()))
        self.stored = {
            "held": self.conversation_id,
            "caller": None if scope.is_admin else scope.user_id,
            "turn": {**self._asked, "id": self._id, "owner_id": scope.user_id},
            "message": {**row, "metadata": self._shown.metadata},
            "delta": pack_delta({"append": [said]}, [self._shown]),
            "title": title_of(message),
        }

    def at(self, place: Row[Any]) -> Accepted:
        """The turn on the wire; that it was stored so need not be read back."""
        turn = Turn(
            id=self._id,
            session_id=self.conversation_id,
            status=TurnStatus.QUEUED,
            agent=self._asked["agent"] or place.first_agent,
            message=self._asked["message"],
            usage=Usage(),
            error=None,
            attempts=0,
            steps=0,
            queue_position=place.before,
            created_at=place.now,
            started_at=None,
            finished_at=None,
        )
        context = EventContext(
            domain_id=place.domain_id,
            session_id=self.conversation_id,
            image_id=place.image_id,
            agent_id=turn.agent,
            turn_id=self._id,
        )
        if place.before:
            return Accepted(turn, context)
        there = {"position": place.position, "created_at": place.now}
        return Accepted(turn, context, self._shown.model_copy(update=there), is_next=True)


_NO_POSITION, _NO_TIME = 0, datetime.fromtimestamp(0, UTC)  # the database gives both
# To hold and to enter are two statements, sent together: one that has waited for a lock sees the
# other rows as they were before. The second enters what the first has left in `colloquy.held`.
# Its plan is kept while tables grow, so it must not read one whole because that was small.
_HOLD = """
    SELECT set_config('colloquy.held', coalesce(string_agg(id::text, ','), ''), true),
        set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true)
    FROM (
        SELECT id FROM conversations WHERE id = ANY(CAST(%(ids)s AS uuid[]))
        FOR NO KEY UPDATE {or_not}
    ) AS held
"""
_WAIT, _PASS_BY = _HOLD.format(or_not=""), _HOLD.format(or_not="SKIP LOCKED")
_ENTER = Prepared(
    name="enter_turns",
    types="jsonb, uuid[]",
    statement=f"""
    WITH held AS (
        SELECT new.*, domain_id, image_id, conversations.title AS named, message_count,
            clock_timestamp() AS now,
            coalesce(image #>> '{{agents,0,name}}', '{DEFAULT_AGENT}') AS first_agent,
            coalesce(
                (SELECT max(version) FROM agent_state_deltas WHERE conversation_id = held),
                (SELECT version FROM agent_state_snapshots WHERE conversation_id = held),
                greatest(
                    (SELECT max(state_version) FROM turns WHERE conversation_id = held),
                    (SELECT max(state_version) FROM branches WHERE conversation_id = held), 0)
            ) AS version,
            (SELECT count(*) FROM turns WHERE conversation_id = held AND {UNFINISHED}) AS before
        FROM jsonb_to_recordset($1) AS new (
            held uuid, caller text, turn jsonb, message jsonb, delta jsonb, title text)
        JOIN conversations ON id = held AND (caller IS NULL OR owner_id = caller)
        WHERE held = ANY($2)
    ), place AS (
        SELECT held.*,
            CASE WHEN before = 0 THEN message_count + 1 END AS position,
            CASE WHEN before = 0 THEN version + 1 END AS state_version
        FROM held
    ), touched AS (
        UPDATE conversations SET
            message_count = coalesce(place.position, place.message_count),
            title = coalesce(nullif(place.named, ''), place.title),
            archived = false,
            updated_at = place.now
        FROM place WHERE id = place.held
    ), entered AS (
        INSERT INTO turns (
            id, conversation_id, owner_id, agent, message, idempotency_key, body_hash, created_at,
            message_position, state_version)
        SELECT asked.id, held, asked.owner_id, coalesce(asked.agent, first_agent), asked.message,
            asked.idempotency_key, asked.body_hash, now, position, place.state_version
        FROM place, jsonb_populate_record(NULL::turns, turn) AS asked
    ), shown AS (
        INSERT INTO display_messages (
            conversation_id, position, id, turn_id, message_type, content_type, content, sequence,
            status, agent, metadata, created_at)
        SELECT held, place.position, said.id, said.turn_id, said.message_type, said.content_type,
            said.content, said.sequence, said.status, said.agent, said.metadata, now
        FROM place, jsonb_populate_record(NULL::display_messages, message) AS said
        WHERE before = 0
    ), saved AS (
        INSERT INTO agent_state_deltas (conversation_id, version, delta)
        SELECT held, state_version,
            jsonb_set(delta, '{{append,0,content,{MARK}}}', to_jsonb(position), false)
        FROM place WHERE before = 0
    )
    SELECT held, domain_id, image_id, first_agent, before, position, now FROM place
    """,  # noqa: S608  (what is put in are constants)
    run="""
    {before};
    EXECUTE enter_turns (
        %(entering)s, CAST(string_to_array(current_setting('colloquy.held'), ',') AS uuid[]))
    """,
)
