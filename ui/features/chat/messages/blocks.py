"""Joins display messages into what is drawn: speakers, tool calls with their results. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from backend.schemas.conversations.sessions import (
    ContentType,
    DisplayMessage,
    MessageStatus,
    MessageType,
)

WRITE_TODOS = "write_todos"


@dataclass
class Block:
    """One element of the history: a display message, or a tool call with all that belongs to it.

    That is its result, and the message that asked a person before it ran.
    """

    row: DisplayMessage
    result: DisplayMessage | None = None
    asked: DisplayMessage | None = None

    @property
    def signature(self) -> tuple[UUID, MessageStatus, UUID | None, MessageStatus | None]:
        """What tells whether it must be drawn again: content never changes, status does."""
        result_id = self.result.id if self.result else None
        return self.row.id, self.row.status, result_id, self.asked.status if self.asked else None

    @property
    def waits(self) -> bool:
        """Whether it waits for a person."""
        asked = self.asked or self.row
        kinds = (asked.content_type, asked.status)
        return kinds == (ContentType.INTERRUPT, MessageStatus.PENDING)


@dataclass
class Group:
    """What one speaker said in a row."""

    is_user: bool
    agent: str | None
    blocks: list[Block] = field(default_factory=list)

    @property
    def answer(self) -> DisplayMessage | None:
        """The last text that an agent said here; none of a person."""
        texts = (b.row for b in self.blocks if b.row.content_type is ContentType.TEXT)
        return None if self.is_user else next(reversed(list(texts)), None)


def to_blocks(rows: Iterable[DisplayMessage]) -> list[Block]:
    """Rows in order, each result and each question with the nearest open call before it.

    Call ids are not unique within a conversation: a call that has its result takes no other. Of a
    turn's lists of todos only the newest stays, without the calls that wrote them.
    """
    blocks: list[Block] = []
    open_calls: dict[str, list[Block]] = {}
    older: dict[UUID | None, list[Block]] = {}
    outdated: set[UUID] = set()
    for row in rows:
        if row.content_type is ContentType.TOOL_RESULT:
            calls = open_calls.get(str(row.content.get("tool_call_id")), [])
            if calls:
                calls.pop(0).result = row
                continue
        if row.content_type is ContentType.INTERRUPT:
            calls = open_calls.get(str(row.content.get("call_id")), [])
            if unasked := next((call for call in calls if call.asked is None), None):
                unasked.asked = row
                continue
        if _only_repeats(row, blocks):
            continue
        block = Block(row)
        blocks.append(block)
        if _is_list(row):
            waiting = older.setdefault(row.turn_id, [])
            if row.content_type is ContentType.TODOS:
                outdated |= {one.row.id for one in waiting if _is_outdated(one)}
                waiting[:] = [one for one in waiting if one.row.id not in outdated]
            waiting.append(block)
        if row.content_type is ContentType.TOOL_CALL:
            open_calls.setdefault(str(row.content.get("call_id")), []).append(block)
    return [block for block in blocks if block.row.id not in outdated]


def _only_repeats(row: DisplayMessage, before: list[Block]) -> bool:
    """Whether a notice says that a turn was stopped, right behind a text that is marked so."""
    kinds = (row.content_type, row.status)
    if kinds != (ContentType.NOTICE, MessageStatus.STOPPED) or not before:
        return False
    last = before[-1].row
    return (last.content_type, last.status) == (ContentType.TEXT, MessageStatus.STOPPED)


def _is_list(row: DisplayMessage) -> bool:
    """Return whether it is a list of todos, or the call that wrote one."""
    is_call = row.content_type is ContentType.TOOL_CALL and row.content.get("name") == WRITE_TODOS
    return is_call or row.content_type is ContentType.TODOS


def _is_outdated(block: Block) -> bool:
    """Whether a newer list of todos says all that this earlier one, or its call, has said."""
    is_written = block.result is not None and not block.result.content.get("is_error")
    return is_written or block.row.content_type is ContentType.TODOS


def to_groups(rows: Iterable[DisplayMessage]) -> list[Group]:
    """Blocks by speaker: a person's messages, and what an agent and its tools gave in between."""
    groups: list[Group] = []
    for block in to_blocks(rows):
        is_user = block.row.message_type is MessageType.USER
        agent = None if is_user else block.row.agent
        last = groups[-1] if groups else None
        if last is None or last.is_user != is_user or (agent and last.agent not in (None, agent)):
            last = Group(is_user, agent)
            groups.append(last)
        last.agent = last.agent or agent
        last.blocks.append(block)
    return groups


def split_current(
    rows: Sequence[DisplayMessage], turn_id: UUID | None
) -> tuple[list[DisplayMessage], list[DisplayMessage]]:
    """What is settled, and what the active turn has given so far; its question is settled."""
    settled: list[DisplayMessage] = []
    current: list[DisplayMessage] = []
    for row in rows:
        belongs = turn_id is not None and row.turn_id == turn_id
        asked = row.message_type is MessageType.USER
        (current if belongs and not asked else settled).append(row)
    return settled, current


def seconds_taken(block: Block) -> float | None:
    """Return how long a tool call took, where that is known."""
    seconds = block.row.metadata.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else None
