"""Draws one block of a conversation: a table of renderers by content type."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import streamlit as st

from backend.schemas import ContentType, DisplayMessage, MessageStatus, MessageType
from ui.components import long_text, tables
from ui.components.blocks import Block, seconds_taken
from ui.components.markdown import plain
from ui.components.times import duration

ARGUMENT_CHARS = 60


@dataclass(frozen=True)
class Place:
    """Where a block is drawn: its session, and a prefix that keeps widget keys apart."""

    session_id: UUID
    prefix: str

    def key(self, row: DisplayMessage) -> str:
        """A key for the widgets of one row."""
        return f"{self.prefix}-{row.id}"


def draw(block: Block, place: Place) -> None:
    """Draw a block by its content type; one that these pages do not know is shown as it is."""
    RENDERERS.get(block.row.content_type, _unknown)(block, place)


def _text(block: Block, place: Place) -> None:
    row = block.row
    text = str(row.content.get("text", ""))
    show = long_text.verbatim if row.message_type is MessageType.USER else long_text.answer
    show(text, place.key(row))
    if row.status is MessageStatus.STOPPED:
        st.caption(":material/stop_circle: Stopped here")


def _thinking(block: Block, place: Place) -> None:
    with st.expander("Thinking", type="compact", icon=":material/psychology:"):
        long_text.answer(str(block.row.content.get("text", "")), place.key(block.row))


def _tool_call(block: Block, place: Place) -> None:
    card = st.status(_step_label(block), state=_step_state(block), type="step")
    # Leaving `with card` would mark a running step as complete; leaving a container in it does not.
    with card.container():
        _labelled("Input", block.row.content.get("arguments"), f"in-{place.key(block.row)}")
        if block.result is not None:
            _output(block.result, place)


def _tool_result(block: Block, place: Place) -> None:
    failed = bool(block.row.content.get("is_error"))
    name = plain(str(block.row.content.get("name") or "tool"))
    with st.status(f"**{name}**", state="error" if failed else "complete", type="step"):
        _output(block.row, place)


def _todos(block: Block, place: Place) -> None:
    marks = {"completed": ":material/check_circle:", "in_progress": ":material/pending:"}
    with st.container(border=True):
        for todo in block.row.content.get("todos", []):
            mark = marks.get(str(todo.get("status")), ":material/radio_button_unchecked:")
            st.markdown(f"{mark} {plain(str(todo.get('content', '')))}")


def _interrupt(block: Block, place: Place) -> None:
    st.info("The agent waits for a decision before it goes on.", icon=":material/approval:")
    _labelled("Asked for", block.row.content, place.key(block.row))


def _notice(block: Block, place: Place) -> None:
    text = str(block.row.content.get("text", ""))
    st.caption(f":material/info: {plain(text, 2000)}")


def _error(block: Block, place: Place) -> None:
    content = block.row.content
    title = plain(str(content.get("title") or "This turn failed"))
    detail = plain(str(content.get("detail") or ""), 4000)
    st.error(f"**{title}**  \n{detail}", icon=":material/error:")


def _attachment(block: Block, place: Place) -> None:
    content = block.row.content
    name = content.get("title") or content.get("name") or block.row.content_type
    st.caption(f":material/attach_file: {plain(str(name))}")


def _unknown(block: Block, place: Place) -> None:
    _labelled(str(block.row.content_type), block.row.content, place.key(block.row))


RENDERERS: Mapping[ContentType, Callable[[Block, Place], None]] = {
    ContentType.TEXT: _text,
    ContentType.THINKING: _thinking,
    ContentType.TOOL_CALL: _tool_call,
    ContentType.TOOL_RESULT: _tool_result,
    ContentType.TODOS: _todos,
    ContentType.ARTIFACT: _attachment,
    ContentType.IMAGE: _attachment,
    ContentType.FILE: _attachment,
    ContentType.INTERRUPT: _interrupt,
    ContentType.NOTICE: _notice,
    ContentType.ERROR: _error,
}


def _output(row: DisplayMessage, place: Place) -> None:
    table = row.metadata.get("table")
    if isinstance(table, dict) and table.get("columns"):
        st.caption("Result")
        tables.show(table, place.session_id, place.key(row))
    else:
        label = "Error" if row.content.get("is_error") else "Result"
        _labelled(label, row.content.get("content"), f"out-{place.key(row)}")


def _labelled(label: str, value: Any, key: str) -> None:
    st.caption(label)
    text, language = _readable(value)
    long_text.code(text or "(empty)", key, language)


def _readable(value: Any) -> tuple[str, str | None]:
    """JSON is laid out for reading, also where it comes as a text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value), None
        if not isinstance(value, dict | list):
            return str(value), None
    return json.dumps(value, indent=2, ensure_ascii=False, default=str), "json"


def _step_state(block: Block) -> Any:
    row, result = block.row, block.result
    if row.status in (MessageStatus.FAILED, MessageStatus.STOPPED):
        return "error"
    if result is not None:
        return "error" if result.content.get("is_error") else "complete"
    return "complete" if row.status is MessageStatus.COMPLETED else "running"


def _step_label(block: Block) -> str:
    """Name, the arguments in short, the time or what became of it."""
    row = block.row
    parts = [f"**{plain(str(row.content.get('name') or 'tool'), 80)}**"]
    if brief := _brief(row.content.get("arguments")):
        parts.append(brief)
    if row.status is MessageStatus.STOPPED:
        parts.append("stopped")
    elif (seconds := seconds_taken(block)) is not None:
        parts.append(duration(seconds))
    return " · ".join(parts)


def _brief(arguments: Any) -> str:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return plain(arguments, ARGUMENT_CHARS)
    values = list(arguments.values()) if isinstance(arguments, dict) else []
    flat = [str(value) for value in values if isinstance(value, str | int | float)]
    return plain(", ".join(flat), ARGUMENT_CHARS)
