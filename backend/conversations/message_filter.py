"""Filtering a conversation's display messages by kind, status, agent and text."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Text, and_, cast, exists, func, literal, or_, select
from sqlalchemy.dialects.postgresql import ARRAY, JSONPATH

from backend.conversations.paths import Path
from colloquy_kit.messages.clean import clean_text
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from db.models.conversations.display_message import DisplayMessageRow as Row

# References to other rows: nobody sees them, and their random letters would match searches.
REFERENCES = ("call_id", "tool_call_id", "artifact_id", "approval_id", "arguments_hash")
_ALL_VALUES = "strict $.**"


@dataclass(frozen=True)
class MessageFilter:
    """What listed messages must match; None matches all."""

    content_type: ContentType | None = None
    message_type: MessageType | None = None
    status: MessageStatus | None = None
    agent: str | None = None
    q: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the SQL conditions."""
        columns = {
            Row.content_type: self.content_type,
            Row.message_type: self.message_type,
            Row.status: self.status,
            Row.agent: self.agent,
        }
        wanted = [column == value for column, value in columns.items() if value is not None]
        return [*wanted, _has_text(self.q)] if self.q else wanted


def is_on(path: Path) -> ColumnElement[bool]:
    """Return the condition for the rows that a closed path shows; it has at least one range."""
    return or_(*(Row.position.between(first, last) for first, last in path.ranges))


def _has_text(q: str) -> ColumnElement[bool]:
    """Match `q` in any text or number of the content, ignoring case."""
    shown = Row.content.op("-", return_type=Row.content.type)(cast(list(REFERENCES), ARRAY(Text)))
    value = func.jsonb_path_query(shown, cast(_ALL_VALUES, JSONPATH)).column_valued("value")
    text = value.op("#>>", return_type=Text())(cast(literal("{}"), ARRAY(Text)))
    is_said = func.jsonb_typeof(value).in_(("string", "number"))
    return exists(select(1).where(and_(is_said, text.icontains(clean_text(q), autoescape=True))))


ALL = MessageFilter()
