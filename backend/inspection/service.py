"""Comparing a session's history with what the model reads next, message by message."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from langchain_core.messages.utils import count_tokens_approximately
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.agents.middleware.registry import find_settings
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations.messages import list_messages
from backend.conversations.state.sent import content_hashes
from backend.conversations.state.sent_store import load_contents
from backend.conversations.state.store import load_state
from backend.domains.template import template_of
from backend.errors.base import InvalidInput
from backend.errors.conversations import CorruptState, corrupt_if_it_fails
from backend.inspection import records
from backend.inspection.context_statuses import Reading, pair_up, tokens_in
from backend.inspection.last_request import LastRequest, read_request
from backend.inspection.pairing import pair
from backend.inspection.timeline import Span, Timeline, make_spans
from backend.llm.events import ANSWER
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.inspection import Inspection, Totals
from backend.types import JSON
from colloquy_kit.messages.state import load_messages
from db.models.conversations.agent_state import AgentStateDeltaRow

SUMMARIES = "summarization"
NOT_WHOLE = (
    "Part of how this session's memory changed is missing from the database, so the context_status"
    " of its older messages is unknown."
)
NOT_ASKED = (
    "No model call of this session is stored yet, so its tools and what policies add to a "
    "request are not counted."
)


@dataclass(frozen=True)
class _Asked:
    """The newest request for an answer: its record, and the version at which it was recorded."""

    record: JSON
    version: int


def inspect(
    session: Session, scope: Scope, conversation_id: UUID, *, before: int | None, limit: int
) -> Inspection:
    """Return one page of the active branch. Token counts are approximate. Raise SessionNotFound."""
    page = list_messages(
        session, scope, conversation_id, before=before, limit=limit, of_branch=True
    )
    notes: list[str] = []
    try:
        messages = load_state(session, conversation_id).state["messages"]
        with corrupt_if_it_fails():
            tokens = [count_tokens_approximately([each]) for each in load_messages(messages)]
    except CorruptState as error:
        messages, tokens = [], []
        notes.append(error.detail)
    spans = make_spans(records.list_turns(session, conversation_id))
    asked = _newest_asked(session, conversation_id)
    changes = records.list_changes(session, conversation_id)
    timeline = Timeline().follow(changes, remember=asked.version if asked else None)
    is_whole = not changes or changes[-1].version == len(changes)
    last = _last_request(session, conversation_id, asked, timeline) if is_whole else LastRequest()
    pairs, known, own = _pair_turns(session, conversation_id, page.items, spans, timeline)
    reading = Reading(messages, tokens, timeline, pairs, known, own, last.otherwise, spans)
    reading.follow_rebuilt(page.items)
    image = template_of(conversations.get_image(session, scope, conversation_id))
    notes += [NOT_WHOLE] if not is_whole else []
    notes += [NOT_ASKED] if last.tools is None and messages else []
    system = last.system if last.tools is not None else image.system_prompt
    return Inspection(
        items=list(pair_up(page.items, reading, is_latest=page.next_after is None)),
        totals=_totals(image, last, system, tokens),
        system=system,
        added=last.added,
        notes=notes,
        next_before=page.next_before,
    )


def _pair_turns(
    session: Session,
    conversation_id: UUID,
    rows: Sequence[DisplayMessage],
    spans: Sequence[Span],
    timeline: Timeline,
) -> tuple[dict[int, str], set[int], set[str]]:
    """Return the messages the rows' turns made: by position, the known positions, and all."""
    pairs: dict[int, str] = {}
    known: set[int] = set()
    own: set[str] = set()
    wanted = list(_spans_of(rows, spans))
    ranges = [(span.first, end) for span, end in wanted]
    turn_ids = [turn.id for span, _ in wanted for turn in span.turns]
    stored = records.list_made(session, conversation_id, ranges)
    frames = records.list_rows(session, conversation_id, turn_ids)
    for span, end in wanted:
        names = timeline.made_between(span.first, end)
        messages = [stored[name] for name in names if name in stored]
        shown = sorted(
            (row for turn in span.turns for row in frames[turn.id]), key=lambda row: row.position
        )
        pairs |= pair(messages, shown)
        own.update(names)
        if messages:
            known.update(row.position for row in shown)
    return pairs, known, own


def _spans_of(
    rows: Sequence[DisplayMessage], spans: Sequence[Span]
) -> Iterator[tuple[Span, int | None]]:
    """Yield the spans of the rows, each with the version at which the next one begins."""
    wanted = {row.turn_id for row in rows}
    ends = [*(span.first for span in spans[1:]), None]
    for span, end in zip(spans, ends, strict=False):
        if any(turn.id in wanted for turn in span.turns):
            yield span, end


def _newest_asked(session: Session, conversation_id: UUID) -> _Asked | None:
    row = AgentStateDeltaRow
    found = session.execute(
        select(row.version, row.calls)
        .where(row.conversation_id == conversation_id, row.calls.is_not(None))
        .order_by(row.version.desc())
        .limit(5)
    )
    for version, calls in found.tuples():
        recorded: list[Any] = list(calls or ())
        for record in reversed(recorded):
            if record.get("p", ANSWER) == ANSWER:
                return _Asked(record, version)
    return None


def _last_request(
    session: Session, conversation_id: UUID, asked: _Asked | None, timeline: Timeline
) -> LastRequest:
    if asked is None:
        return LastRequest()
    ids = timeline.ids_at.get(asked.version, [])
    answered = sum(timeline.born[name] == asked.version for name in ids)
    contents = load_contents(session, conversation_id, content_hashes(asked.record))
    return read_request(asked.record, contents, ids, answered)


def _budget(image: DomainTemplate) -> Any:
    """Return the first agent's summarisation settings; None without, or if no longer valid."""
    named = [agent.middleware for agent in image.agents[:1] if agent.middleware is not None]
    try:
        return find_settings(named[0] if named else image.middleware, SUMMARIES)
    except InvalidInput:
        return None


def _totals(image: DomainTemplate, last: LastRequest, system: str, tokens: Sequence[int]) -> Totals:
    budget = _budget(image)
    return Totals(
        system=tokens_in(system),
        tools=None if last.tools is None else tokens_in(orjson.dumps(last.tools).decode()),
        messages=sum(tokens),
        message_count=len(tokens),
        budget=budget.trigger_tokens if budget else None,
        keep=budget.keep_tokens if budget else None,
    )
