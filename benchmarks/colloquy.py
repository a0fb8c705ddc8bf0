"""Colloquy's side: turns through the real code path, only without a model; bulk filling; reading."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import orjson
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call
from sqlalchemy import insert, update

from backend.agents.run import StepFinished
from backend.agents.state import dump_message, empty_state, user_message
from backend.auth.scope import LOCAL_USER
from backend.bootstrap import bootstrap
from backend.conversations import display
from backend.conversations.display import Draft
from backend.conversations.messages import list_messages
from backend.conversations.state_store import StoredState, append_delta, fold, load_state
from backend.domains.catalog import ensure_default_domain
from backend.schemas import ContentType, MessageStatus, Usage
from backend.settings import Settings
from backend.turns.claim import Claim, claim_turn
from backend.turns.closing import Outcome
from backend.turns.recorder import Recorder
from backend.turns.service import Ask, open_session, submit
from backend.turns.services import Services
from benchmarks.ground import Ground
from benchmarks.texts import MESSAGES_PER_TURN, TOOL, TurnText, turn_texts
from db.models.conversation import ConversationRow
from db.models.display_message import DisplayMessageRow

JSON = dict[str, Any]
AGENT = "assistant"
TRIGGER, KEEP = 200, 100  # the bundled domain's policy `recent_messages`
ROWS_PER_TURN = 5
BATCH = 1_000


@contextmanager
def colloquy(ground: Ground) -> Iterator[Services]:
    """The services over a new database."""
    settings = Settings(
        database_url=ground.new_database(), redis_url=ground.redis_url, data_dir=ground.home
    )
    services = bootstrap(settings, threads=4)
    with services.database.transaction() as session:
        ensure_default_domain(session)
    try:
        yield services
    finally:
        services.redis.flushall()
        services.redis.close()
        services.database.close()


def new_session(services: Services) -> UUID:
    """An empty session of the bundled domain."""
    with services.database.transaction() as session:
        return open_session(session, LOCAL_USER, None, None)


def play_turn(services: Services, session_id: UUID, said: TurnText) -> None:
    """One turn as the API and a worker do it, from submit to its end, three saved steps."""
    turn = submit(services, LOCAL_USER, Ask(said.question, session_id))
    with services.database.transaction() as session:
        claim = claim_turn(session, turn.id, "bench", 10.0)
    assert isinstance(claim, Claim)
    recorder = Recorder(services, claim)
    recorder.started()
    state = {**claim.stored.state, "messages": _trimmed(claim.stored.state["messages"])}
    for message in agent_messages(said):
        state = {**state, "messages": [*state["messages"], message]}
        recorder.step_finished(StepFinished((message,), {}, state, USAGE))
    recorder.finish(Outcome.succeeded())


def fill(
    services: Services, session_id: UUID, turns: int, *, in_state: int, as_deltas: int = 0
) -> None:
    """Store turns in bulk as the real path would have left them.

    The last `in_state` messages are what the model reads; the last `as_deltas` turns of these are
    stored step by step, the others in the snapshot.
    """
    kept: list[list[JSON]] = []
    rows: list[JSON] = []
    position = 0
    for said in turn_texts(turns):
        messages = [user_message(said.question, str(uuid4())), *agent_messages(said)]
        kept.append(messages)
        for row in _rows(session_id, messages):
            position += 1
            rows.append({**row, "position": position})
        if len(rows) >= BATCH:
            _insert(services, rows)
    _insert(services, rows)
    kept = kept[-(in_state // MESSAGES_PER_TURN) :]
    folded = len(kept) - as_deltas
    with services.database.transaction() as session:
        _count_messages(session, session_id, position)
        stored = StoredState(_state(kept[:folded]), load_state(session, session_id).version)
        fold(session, session_id, stored)
        version = stored.version
        for message in itertools.chain(*kept[folded:]):
            version = append_delta(session, session_id, version, {"append": [message]})


def read_texts(services: Services, session_id: UUID) -> list[str]:
    """All that was said, as people see it, page by page; without the service's own notices."""
    parts: list[str] = []
    after: int | None = 0
    while after is not None:
        with services.database.read() as session:
            page = list_messages(session, LOCAL_USER, session_id, after=after, limit=200)
        said = (item for item in page.items if item.content_type is not ContentType.NOTICE)
        parts += [text_of_content(item.content) for item in said]
        after = page.next_after
    return parts


def text_of_content(content: JSON) -> str:
    """The text of a display message's content."""
    if "arguments" in content:
        return str(content["arguments"]["query"])
    return str(content.get("text") or content["content"])


def agent_messages(said: TurnText) -> list[JSON]:
    """The messages of an agent in one turn, with the names and counts that a model sends along."""
    call = tool_call(name=TOOL, args={"query": said.query}, id=f"call_{uuid4().hex[:24]}")
    messages = [
        _answer(said.remark, "tool_calls", [call]),
        ToolMessage(said.result, tool_call_id=call["id"] or "", name=TOOL, id=str(uuid4())),
        _answer(said.answer, "stop", []),
    ]
    return [dump_message(message) for message in messages]


USAGE = Usage(input_tokens=4_200, output_tokens=180, cached_tokens=3_900, model_calls=1)


def _answer(text: str, reason: str, calls: list[Any]) -> AIMessage:
    return AIMessage(
        text,
        id=str(uuid4()),
        tool_calls=calls,
        response_metadata={"finish_reason": reason, "model_name": "gpt-4o-2024-08-06"},
        usage_metadata=UsageMetadata(
            input_tokens=4_200,
            output_tokens=180,
            total_tokens=4_380,
            input_token_details={"cache_read": 3_900},
            output_token_details={"reasoning": 0},
        ),
    )


def _trimmed(messages: list[JSON]) -> list[JSON]:
    """What the policy `recent_messages` leaves: cut at a person's message."""
    if len(messages) <= TRIGGER:
        return messages
    wanted = len(messages) - KEEP
    return messages[next(i for i in range(wanted, len(messages)) if _is_person(messages[i])) :]


def _is_person(message: JSON) -> bool:
    return bool(message["role"] == "user")


def _rows(session_id: UUID, messages: Sequence[JSON]) -> Iterator[JSON]:
    turn_id, now = uuid4(), datetime.now(UTC)
    for message in messages:
        for draft in _drafts(message):
            yield {
                "id": uuid4(),
                "conversation_id": session_id,
                "turn_id": turn_id,
                "message_type": draft.message_type,
                "content_type": draft.content_type,
                "content": draft.content,
                "sequence": draft.sequence,
                "status": MessageStatus.COMPLETED,
                "agent": draft.agent,
                "created_at": now,
                "metadata_": draft.metadata,
            }


def _drafts(message: JSON) -> list[Draft]:
    if message["role"] == "user":
        return [display.user_text(message["content"])]
    if message["role"] == "tool":
        return [display.tool_draft(message, None, AGENT)]
    return display.assistant_drafts(message, AGENT, MessageStatus.COMPLETED)


def _insert(services: Services, rows: list[JSON]) -> None:
    if rows:
        with services.database.transaction() as session:
            session.execute(insert(DisplayMessageRow), rows)
        rows.clear()


def _count_messages(session: Any, session_id: UUID, count: int) -> None:
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == session_id)
        .values(message_count=count, title="A long conversation")
    )


def _state(turns: Sequence[Sequence[JSON]]) -> JSON:
    messages = list(itertools.chain(*turns))
    return {**empty_state(), "messages": orjson.loads(orjson.dumps(messages))}
