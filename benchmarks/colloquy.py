"""Colloquy's side: turns on the real code path without a model, bulk filling, reading."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call
from sqlalchemy import FromClause, insert, update
from sqlalchemy.orm import Session

from backend.agents.middleware.shortening.compaction import summary_message
from backend.agents.steps.events import ModelAsked, StepFinished
from backend.artifacts import rows as artifacts
from backend.artifacts.contents import Kept
from backend.artifacts.previews import text_preview
from backend.auth.scope import LOCAL_USER
from backend.bootstrap import bootstrap
from backend.conversations import display
from backend.conversations.messages import list_messages, shown_as
from backend.conversations.rows import row_of
from backend.conversations.state.shown import pack_delta
from backend.conversations.state.writer import compact
from backend.domains.catalog import ensure_bundled_domains
from backend.llm.events import ANSWER, ModelCall
from backend.schemas.artifacts import ArtifactKind
from backend.schemas.conversations.turns import Usage
from backend.settings import Settings
from backend.turns.process.services import Services
from backend.turns.run.claim import Claim, claim_turn
from backend.turns.run.close import Outcome
from backend.turns.run.record.recorder import Recorder
from backend.turns.submit.service import Submission, open_session, submit
from backend.types import JSON
from benchmarks.ground import Ground
from benchmarks.texts import MESSAGES_PER_TURN, TOOL, TurnText, turn_texts
from colloquy_kit.messages.display import Draft, user_text
from colloquy_kit.messages.kinds import ContentType, MessageStatus
from colloquy_kit.messages.state import dump_message, user_message
from db.models.conversations.agent_state import AgentStateDeltaRow
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow

AGENT = "assistant"
TRIGGER, KEEP = 200, 100  # messages; as in the bundled domain's policy `summarization`
SUMMARY = "What was said so far, and what came of it. " * 40
ROWS_PER_TURN = 5
BATCH = 1_000


@contextmanager
def colloquy(ground: Ground) -> Iterator[Services]:
    """Open the services over a new database."""
    settings = Settings(
        database_url=ground.new_database(), redis_url=ground.redis_url, data_dir=ground.home
    )
    services = bootstrap(settings, threads=4)
    with services.database.transaction() as session:
        ensure_bundled_domains(session)
    try:
        yield services
    finally:
        services.redis.flushall()
        services.redis.close()
        services.database.close()


def new_session(services: Services) -> UUID:
    """Create an empty session of the bundled domain."""
    with services.database.transaction() as session:
        return open_session(session, LOCAL_USER, None, None)


def play_turn(services: Services, session_id: UUID, said: TurnText) -> None:
    """Run one turn as the API and a worker do, from submit to its end, with three saved steps."""
    turn = submit(services, LOCAL_USER, Submission(said.question, session_id))
    with services.database.transaction() as session:
        claim = claim_turn(session, turn.id, "bench", 10.0, at_once=1)
    assert isinstance(claim, Claim)
    recorder = Recorder(services, claim)
    recorder.started()
    state = claim.stored.state
    if len(state["messages"]) > TRIGGER:
        state = {**state, "messages": _summarised(state["messages"])}
        recorder.step_finished(StepFinished((), {}, state, USAGE))
    for message in agent_messages(said):
        if message["role"] == "assistant":
            recorder.asked(_asked(state["messages"]))
        state = {**state, "messages": [*state["messages"], message]}
        recorder.step_finished(StepFinished((message,), {}, state, USAGE))
    recorder.finish(Outcome.succeeded())


def _asked(messages: list[JSON]) -> ModelAsked:
    """Return a completed model call that was sent everything in the state."""
    sent = [{"role": m["role"], "content": m.get("content")} for m in messages]
    prompt = {"role": "system", "content": "You are an analyst."}
    payload = {"model": "gpt-4o", "messages": [prompt, *sent], "stream": True}
    with (call := ModelCall(ANSWER, [], payload)).under_way():
        pass
    return ModelAsked(call, (None, *messages))


def fill(
    services: Services, session_id: UUID, turns: int, *, in_state: int, as_deltas: int = 0
) -> None:
    """Store turns in bulk, as the real code path would have left them.

    The last `in_state` messages are what the model reads; the last `as_deltas` turns of these are
    stored step by step, the others in the snapshot.
    """
    rows: list[JSON] = []
    deltas: list[JSON] = []
    position = 0
    for said in turn_texts(turns):
        turn_id, now = uuid4(), datetime.now(UTC)
        for message in (user_message(said.question, str(uuid4())), *agent_messages(said)):
            shown = []
            for draft in _drafts(message):
                position += 1
                row = row_of(draft, session_id, turn_id, position, now)
                shown.append({**row, "status": MessageStatus.COMPLETED})
            rows += shown
            deltas.append(pack_delta({"append": [message]}, [shown_as(row) for row in shown]))
    _insert(services, DisplayMessageRow.__table__, rows)
    folded = deltas[len(deltas) - in_state : len(deltas) - as_deltas * MESSAGES_PER_TURN]
    with services.database.transaction() as session:
        _count_messages(session, session_id, position)
        version = _append(session, session_id, 0, folded)
        compact(session, session_id, version)
        _append(session, session_id, version, deltas[len(deltas) - in_state + len(folded) :])


def keep_document(
    services: Services, session_id: UUID, text: str, artifact_id: UUID, message_id: str
) -> None:
    """Save a document as an artifact's next version, linked to a message, as a tool does."""
    new = artifacts.NewVersion(
        title="Report",
        kind=ArtifactKind.DOCUMENT,
        media_type="text/markdown",
        kept=Kept.inline(text.encode()),
        preview=text_preview(text),
        agent=AGENT,
        message_id=message_id,
    )
    with services.database.transaction() as session:
        added = artifacts.add(session, session_id, new, artifact_id)
        if not added.is_new:
            artifacts.revise(session, artifact_id, session_id, new)


def read_texts(services: Services, session_id: UUID) -> list[str]:
    """Return everything that people see, page by page, without the service's own notices."""
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
    """Return the text of a display message's content."""
    if "arguments" in content:
        return str(content["arguments"]["query"])
    return str(content.get("text") or content["content"])


def agent_messages(said: TurnText) -> list[JSON]:
    """Return an agent's messages in one turn, with the metadata that a model sends along."""
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


def _summarised(messages: list[JSON]) -> list[JSON]:
    """Return what the policy leaves: a summary and the newest messages."""
    wanted = len(messages) - KEEP
    cut = next(i for i in range(wanted, len(messages)) if _is_person(messages[i]))
    return [dump_message(summary_message(SUMMARY)), *messages[cut:]]


def _is_person(message: JSON) -> bool:
    return bool(message["role"] == "user")


def _drafts(message: JSON) -> list[Draft]:
    if message["role"] == "user":
        return [user_text(message["content"])]
    if message["role"] == "tool":
        return [display.tool_draft(message, None, AGENT)]
    return display.assistant_drafts(message, AGENT, MessageStatus.COMPLETED)


def _insert(services: Services, table: FromClause, rows: list[JSON]) -> None:
    for start in range(0, len(rows), BATCH):
        with services.database.transaction() as session:
            session.execute(insert(table), rows[start : start + BATCH])


def _append(session: Session, session_id: UUID, version: int, deltas: list[JSON]) -> int:
    for delta in deltas:
        version += 1
        session.add(AgentStateDeltaRow(conversation_id=session_id, version=version, delta=delta))
    session.flush()
    return version


def _count_messages(session: Session, session_id: UUID, count: int) -> None:
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == session_id)
        .values(message_count=count, title="A long conversation")
    )
