"""Past model calls: listing them, and returning one exactly as it was sent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.state.sent import MESSAGES, content_hashes, read_names, restore_request
from backend.conversations.state.sent_store import load_contents
from backend.conversations.state.store import load_state_at
from backend.errors.conversations import CallNotFound, CallNotKept, StateNotKept
from backend.inspection.context_statuses import tokens_in
from backend.inspection.convert import as_sent
from backend.inspection.records import list_changes, list_turns
from backend.inspection.timeline import Span, Timeline, make_spans, span_of
from backend.llm.events import ANSWER
from backend.llm.prices import COST
from backend.schemas.inspection import (
    ModelCallDetails,
    ModelCallPage,
    ModelCallSummary,
    SentMessage,
)
from backend.types import JSON
from db.models.conversations.agent_state import AgentStateDeltaRow

MAX_PAGE = 100
NONE_KEPT = (
    "Model calls of this session's older turns are missing: they were not stored at that time."
)


@dataclass(frozen=True)
class RecordedCalls:
    """The calls that one delta records, and the messages that it added."""

    version: int
    records: Sequence[JSON]
    added: Sequence[JSON]


class _Past:
    """The session's past, for finding where each call belongs."""

    def __init__(
        self, session: Session, conversation_id: UUID, recorded: Sequence[RecordedCalls]
    ) -> None:
        self.spans: list[Span] = make_spans(list_turns(session, conversation_id))
        span = span_of(self.spans, min((one.version for one in recorded), default=0))
        first = span.first if span else 1
        self.timeline = Timeline().follow(list_changes(session, conversation_id, first))
        frames = {record["f"] for one in recorded for record in one.records}
        self.frames = {
            name: json.loads(text)
            for name, text in load_contents(session, conversation_id, frames).items()
        }

    def summary(self, one: RecordedCalls, number: int) -> ModelCallSummary:
        """Return one call in the list's form."""
        record = one.records[number - 1]
        began_at = datetime.fromtimestamp(record["a"], UTC)
        span = span_of(self.spans, one.version)
        turn = span.turn_at(began_at) if span else None
        step = self.timeline.steps_before(span.first, one.version) + 1 if span else 0
        return ModelCallSummary(
            version=one.version,
            number=number,
            turn=turn.number if turn else 0,
            turn_id=turn.id if turn else None,
            step=step,
            agent=turn.agent if turn else "",
            model=str(self.frames.get(record["f"], {}).get("model", "")),
            purpose=record.get("p", ANSWER),
            message_count=sum(1 for _ in read_names(record["m"])),
            **_used(record, one.added),
            began_at=began_at,
            seconds=record.get("s"),
            failure=record.get("e", ""),
        )


def list_calls(
    session: Session, scope: Scope, conversation_id: UUID, *, before: int | None, limit: int
) -> ModelCallPage:
    """Return one page of calls, newest first, keeping those of a step together.

    Raise SessionNotFound.
    """
    conversations.check_visible(session, scope, conversation_id)
    row = AgentStateDeltaRow
    query = _recorded_calls(conversation_id).order_by(row.version.desc())
    if before is not None:
        query = query.where(row.version < before)
    limit = max(1, min(limit, MAX_PAGE))
    found = [_read(*each) for each in session.execute(query.limit(limit + 1))]
    page = found[:limit]
    past = _Past(session, conversation_id, page)
    items = [past.summary(one, n) for one in page for n in range(len(one.records), 0, -1)]
    more = len(found) > limit
    is_old = not more and any(
        turn.version is None and turn.started_at for s in past.spans for turn in s.turns
    )
    return ModelCallPage(
        items=items,
        notes=[NONE_KEPT] if is_old else [],
        next_before=page[-1].version if more else None,
    )


def get_call(
    session: Session, scope: Scope, conversation_id: UUID, version: int, number: int
) -> ModelCallDetails:
    """Return one call, with exactly what was sent.

    Raise SessionNotFound, CallNotFound, CallNotKept.
    """
    conversations.check_visible(session, scope, conversation_id)
    found = session.execute(
        _recorded_calls(conversation_id).where(AgentStateDeltaRow.version == version)
    ).one_or_none()
    if found is None:
        raise CallNotFound
    one = _read(*found)
    if not 1 <= number <= len(one.records):
        raise CallNotFound
    record = one.records[number - 1]
    try:
        state = load_state_at(session, conversation_id, version)[MESSAGES]
        contents = load_contents(session, conversation_id, content_hashes(record))
        payload, is_proven = restore_request(record, state, contents, as_sent)
    except (StateNotKept, LookupError) as error:
        raise CallNotKept from error
    summary = _Past(session, conversation_id, [one]).summary(one, number)
    return ModelCallDetails(
        **summary.model_dump(),
        messages=_sent(payload.pop(MESSAGES), record),
        tools=payload.pop("tools", None) or [],
        settings=payload,
        is_proven=is_proven,
    )


def _recorded_calls(conversation_id: UUID) -> Any:
    row = AgentStateDeltaRow
    return select(row.version, row.calls, row.delta).where(
        row.conversation_id == conversation_id, row.calls.is_not(None)
    )


def _read(version: int, calls: Any, delta: JSON) -> RecordedCalls:
    return RecordedCalls(version, calls, [*delta.get("prepend", ()), *delta.get("append", ())])


def _sent(messages: Sequence[JSON], record: JSON) -> list[SentMessage]:
    return [
        SentMessage(
            message=message,
            place=name if isinstance(name, int) else None,
            tokens=tokens_in(orjson.dumps(message.get("content")).decode()),
        )
        for name, message in zip(read_names(record["m"]), messages, strict=True)
    ]


def _used(record: JSON, added: Sequence[JSON]) -> Mapping[str, Any]:
    """Return a call's usage, from its record, or else from the answer that its step added."""
    if "p" in record:
        read, written = record.get("u") or (None, None)
        return {"input_tokens": read, "output_tokens": written, "cost": record.get("c", 0.0)}
    answer = next((m for m in reversed(added) if m.get("usage_metadata")), {})
    used = {} if "e" in record else answer.get("usage_metadata", {})
    priced = {} if "e" in record else answer.get("response_metadata", {})
    return {
        "input_tokens": used.get("input_tokens"),
        "output_tokens": used.get("output_tokens"),
        "cost": priced.get(COST, 0.0),
    }
