"""Who a display message is by, what it holds, and how far it has come."""

from enum import StrEnum


class MessageType(StrEnum):
    """The author of a message."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class ContentType(StrEnum):
    """The kind of content in a display message."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TODOS = "todos"
    ARTIFACT = "artifact"
    IMAGE = "image"
    FILE = "file"
    INTERRUPT = "interrupt"
    NOTICE = "notice"
    ERROR = "error"


class MessageStatus(StrEnum):
    """The progress of a display message; it only moves forward."""

    PENDING = "pending"
    EXECUTING = "executing"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


OPEN_STATUSES = (MessageStatus.PENDING, MessageStatus.EXECUTING)


def moves_forward(before: str, after: str) -> bool:
    """Return whether a status may become the other: pending, executing, then one that is final."""
    order = {status: place for place, status in enumerate(OPEN_STATUSES)}
    return (
        before in order
        and order.get(MessageStatus(after), len(order)) > order[MessageStatus(before)]
    )
