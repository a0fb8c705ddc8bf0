"""Draws one block of a conversation: a table of renderers by content type."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import streamlit as st

from backend.schemas.conversations.outcomes import CallOutcome
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.tasks import Plan
from backend.tabular.sql_text import lay_out as lay_out_sql
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from ui import state
from ui.features.approvals import card as approval_card
from ui.features.approvals import view as approval_view
from ui.features.artifacts import card as artifact_card
from ui.features.artifacts.known import SessionArtifacts
from ui.features.chat.messages import answer, files, sources
from ui.features.chat.messages.answer import Pictures
from ui.features.chat.messages.blocks import Block
from ui.features.chat.messages.labels import (
    DONE_ICON,
    FAILED_ICON,
    STOPPED_ICON,
    outcome_icon,
    step_icon,
    step_label,
    why_not_done,
)
from ui.features.plans import view as plan_view
from ui.features.results import own_query, view
from ui.features.results.origins import origin_of
from ui.shared import links
from ui.shared.text import long_text
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import plain

_OPEN = ":material/radio_button_unchecked:"
_TODO_MARKS = {"completed": ":material/check_circle:", "in_progress": ":material/pending:"}


@dataclass(frozen=True)
class BlockContext:
    """Where a block is drawn: its session, and a prefix that keeps widget keys apart.

    `is_open`: what is otherwise folded is drawn open.
    """

    session_id: UUID
    prefix: str
    is_open: bool = False
    pictures: Pictures | None = None
    artifacts: SessionArtifacts | None = None
    plans: Mapping[UUID, Plan] = field(default_factory=dict)

    def key(self, row: DisplayMessage) -> str:
        """Return a key for the widgets of one row."""
        return f"{self.prefix}-{row.id}"

    def card_key(self, row: DisplayMessage, *, is_open: bool = False) -> str:
        """Return the key of a row's card, by which the browser remembers whether it is open.

        The label may change, so it is not part of the key. A card drawn open has a key of its own.
        """
        return f"card-{self.key(row)}" + ("-open" if is_open else "")


def draw(block: Block, context: BlockContext) -> None:
    """Draw a block by its content type; an unknown type is shown as it is."""
    RENDERERS.get(block.row.content_type, _unknown)(block, context)


def _text(block: Block, context: BlockContext) -> None:
    row = block.row
    text = str(row.content.get("text", ""))
    if row.message_type is MessageType.USER:
        _author(row)
        long_text.verbatim(text, context.key(row))
    elif (why := why_not_done(text)) is not None:
        st.warning(f"**Not done.** {plain(why, 2_000)}", icon=":material/block:")
    else:
        pictures = context.pictures or Pictures(context.session_id)
        answer.show(
            text,
            context.key(row),
            pictures,
            context.artifacts or SessionArtifacts(context.session_id),
        )
    if row.status is MessageStatus.STOPPED:
        st.caption(":material/stop_circle: Stopped here")
    if row.message_type is MessageType.ASSISTANT:
        sources.show(row.metadata, f"sources-{context.key(row)}")


def _author(row: DisplayMessage) -> None:
    """Name who wrote a message, unless it is the person who reads."""
    author = row.metadata.get("author")
    if author and author["id"] != state.server().user:
        st.caption(plain(author["name"], 120))


def thinking(rows: Sequence[DisplayMessage], context: BlockContext) -> None:
    """Draw thinking as one row, however often the model thought."""
    key = f"thinking-{context.key(rows[0])}"
    with st.expander("Thinking", type="compact", icon=":material/psychology:", key=key):
        for row in rows:
            long_text.answer(str(row.content.get("text", "")), context.key(row))
            sources.show_within(row.metadata)


def _thinking(block: Block, context: BlockContext) -> None:
    thinking([block.row], context)


def _tool_call(block: Block, context: BlockContext) -> None:
    asked = approval_view.from_row(block.asked) if block.asked else None
    if asked is not None and block.waits:
        approval_card.show(asked)
        return
    if (plan := context.plans.get(block.row.id)) is not None:
        plan_view.show(plan, context.key(block.row))
        return
    is_edited = asked is not None and asked.is_edited
    # Not st.status: it sleeps 50 ms for each card.
    is_open = is_edited or _is_chart(block) or context.is_open
    with st.expander(
        step_label(block, asked),
        is_open,
        key=context.card_key(block.row, is_open=is_open),
        icon=step_icon(block, asked),
        type="step",
    ):
        if block.result is not None:
            _output(block.result, context)
        if asked is not None:
            approval_card.show_end(asked, context.key(block.row))
        else:
            _input(block.row, context, is_folded=_is_chart(block))
        sources.show_within(block.row.metadata)


def _tool_result(block: Block, context: BlockContext) -> None:
    row, outcome = block.row, CallOutcome.of(block.row.metadata)
    label = f"**{plain(str(row.content.get('name') or 'tool'))}**"
    icon = FAILED_ICON if row.content.get("is_error") else DONE_ICON
    if outcome is not None:
        label, icon = f"{label} · {outcome.label}", outcome_icon(outcome)
    with st.expander(label, icon=icon, type="step", key=context.card_key(row)):
        _output(row, context)


def _todos(block: Block, context: BlockContext) -> None:
    todos = block.row.content.get("todos", [])
    done = sum(todo.get("status") == "completed" for todo in todos)
    lines = [
        f"{_TODO_MARKS.get(t.get('status'), _OPEN)} {plain(str(t.get('content')))}" for t in todos
    ]
    with st.container(border=True):
        st.caption(f":material/checklist: {done} of {len(todos)} done")
        st.markdown("  \n".join(lines))


def _interrupt(block: Block, context: BlockContext) -> None:
    """Draw an approval whose call is on an earlier page."""
    asked = approval_view.from_row(block.row)
    if block.waits:
        approval_card.show(asked)
        return
    label = f"**{plain(asked.name, 80)}** · {approval_card.end_words(asked)}"
    icon = approval_card.end_icon(asked, block.row.status) or DONE_ICON
    key = context.card_key(block.row, is_open=asked.is_edited)
    with st.expander(label, asked.is_edited, icon=icon, type="step", key=key):
        approval_card.show_end(asked, context.key(block.row))


def _notice(block: Block, context: BlockContext) -> None:
    text = str(block.row.content.get("text", ""))
    icon = STOPPED_ICON if block.row.status is MessageStatus.STOPPED else ":material/info:"
    st.caption(f"{icon} {plain(text, 2000)}")


def _error(block: Block, context: BlockContext) -> None:
    content = block.row.content
    title = plain(str(content.get("title") or "This turn failed"))
    detail = plain(str(content.get("detail") or ""), 4000)
    st.error(f"**{title}**  \n{detail}", icon=":material/error:")


def _file(block: Block, context: BlockContext) -> None:
    files.show(block.row, context.session_id, context.key(block.row))


def _artifact(block: Block, context: BlockContext) -> None:
    target = artifact_card.target_of(block.row)
    if target is None:
        _attachment(block, context)
        return
    known = context.artifacts or SessionArtifacts(context.session_id)
    artifact_card.show(block.row, target, known, context.key(block.row))


def _attachment(block: Block, context: BlockContext) -> None:
    content = block.row.content
    name = content.get("title") or content.get("name") or block.row.content_type
    st.caption(f":material/attach_file: {plain(str(name))}")


def _unknown(block: Block, context: BlockContext) -> None:
    _labelled(str(block.row.content_type), block.row.content, context.key(block.row))


RENDERERS: Mapping[ContentType, Callable[[Block, BlockContext], None]] = {
    ContentType.TEXT: _text,
    ContentType.THINKING: _thinking,
    ContentType.TOOL_CALL: _tool_call,
    ContentType.TOOL_RESULT: _tool_result,
    ContentType.TODOS: _todos,
    ContentType.ARTIFACT: _artifact,
    ContentType.IMAGE: _file,
    ContentType.FILE: _file,
    ContentType.INTERRUPT: _interrupt,
    ContentType.NOTICE: _notice,
    ContentType.ERROR: _error,
}


def _output(row: DisplayMessage, context: BlockContext) -> None:
    table = row.metadata.get("table")
    if outcome := CallOutcome.of(row.metadata):
        _not_run(row, outcome, context)
    elif isinstance(table, dict) and table.get("columns"):
        view.show(table, origin_of(table, context.session_id), context.key(row))
    else:
        label = "Error" if row.content.get("is_error") else "Result"
        _labelled(label, row.content.get("content"), f"out-{context.key(row)}")
    if structured := row.metadata.get("structured"):
        _labelled("Structured content", structured, f"structured-{context.key(row)}")
    for number, link in enumerate(row.metadata.get("links") or ()):
        links.show(link, f"link-{number}-{context.key(row)}")


def _not_run(row: DisplayMessage, outcome: CallOutcome, context: BlockContext) -> None:
    """Say why a call was not run; what the model was told of it is folded."""
    st.markdown(outcome.sentence)
    key = f"told-{context.card_key(row)}"
    with st.expander("What the agent was told", type="compact", icon=":material/chat:", key=key):
        long_text.verbatim(
            str(row.content.get("content") or "(nothing)"), f"out-{context.key(row)}"
        )


def _input(row: DisplayMessage, context: BlockContext, *, is_folded: bool) -> None:
    """Draw a tool's input: openly, or below a picture folded into a line."""
    if not is_folded:
        _draw_input(row, context)
        return
    key = f"query-{context.card_key(row)}"
    with st.expander("Query", type="compact", icon=":material/code:", key=key):
        _draw_input(row, context)


def _draw_input(row: DisplayMessage, context: BlockContext) -> None:
    """Draw an input as it is; a query is formatted, and can be run again by the person."""
    arguments, key = row.content.get("arguments"), context.key(row)
    query = own_query.query_of(str(row.content.get("name")), arguments)
    if query is None or not isinstance(arguments, dict):
        _labelled("Input", arguments, f"in-{key}")
        return
    source, sql = query
    st.caption(f"Query of {plain(source, 80)}")
    long_text.code(lay_out_sql(sql), f"in-{key}", "sql")
    if rest := {name: arguments[name] for name in arguments if name not in ("source", "sql")}:
        _labelled("Other input", rest, f"rest-{key}")
    own_query.show(context.session_id, source, sql, row.id, key)


def _labelled(label: str, value: Any, key: str) -> None:
    st.caption(label)
    text, language = _readable(value)
    long_text.code(text or "(empty)", key, language)


def _readable(value: Any) -> tuple[str, str | None]:
    """Return the text to show and its language; JSON is formatted, even if it comes as text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value), None
        if not isinstance(value, dict | list):
            return str(value), None
    return lay_out(value), "json"


def _is_chart(block: Block) -> bool:
    table = block.result.metadata.get("table") if block.result else None
    return isinstance(table, dict) and "chart" in table
