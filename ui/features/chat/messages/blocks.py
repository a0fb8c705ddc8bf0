"""Groups display messages for drawing: by speaker, and tool calls with their results. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from backend.schemas.conversations.sessions import DisplayMessage
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType

WRITE_TODOS = "write_todos"


@dataclass
class Block:
    """One element of the history: a display message, or a tool call with what belongs to it.

    That is its result, and the message that asked a person before it ran.
    """

    row: DisplayMessage
    result: DisplayMessage | None = None
    asked: DisplayMessage | None = None

    @property
    def waits(self) -> bool:
        """Whether it waits for a person's decision."""
        asked = self.asked or self.row
        kinds = (asked.content_type, asked.status)
        return kinds == (ContentType.INTERRUPT, MessageStatus.PENDING)


@dataclass
class Group:
    """Consecutive blocks of one speaker."""

    is_user: bool
    agent: str | None
    blocks: list[Block] = field(default_factory=list)

    @property
    def answer(self) -> DisplayMessage | None:
        """The agent's last text in the group; None for a person's group."""
        texts = (b.row for b in self.blocks if b.row.content_type is ContentType.TEXT)
        return None if self.is_user else next(reversed(list(texts)), None)


def to_blocks(rows: Iterable[DisplayMessage]) -> list[Block]:
    """Return the rows as blocks in order; results and approvals join the nearest open call before.

    Call ids are not unique within a conversation: a call that has a result gets no second one. Of a
    turn's todo lists only the newest is kept, without the calls that wrote them.
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
    """Return whether a notice of a stop follows directly on a text already marked as stopped."""
    kinds = (row.content_type, row.status)
    if kinds != (ContentType.NOTICE, MessageStatus.STOPPED) or not before:
        return False
    last = before[-1].row
    return (last.content_type, last.status) == (ContentType.TEXT, MessageStatus.STOPPED)


def _is_list(row: DisplayMessage) -> bool:
    """Return whether the row is a todo list, or the call that wrote one."""
    is_call = row.content_type is ContentType.TOOL_CALL and row.content.get("name") == WRITE_TODOS
    return is_call or row.content_type is ContentType.TODOS


def _is_outdated(block: Block) -> bool:
    """Return whether a newer todo list replaces this earlier one, or its call."""
    is_written = block.result is not None and not block.result.content.get("is_error")
    return is_written or block.row.content_type is ContentType.TODOS


def to_groups(rows: Iterable[DisplayMessage]) -> list[Group]:
    """Return the blocks by speaker: a person's messages, and an agent's with those of its tools."""
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
    """Return the settled rows, and those of the active turn so far; its question is settled."""
    settled: list[DisplayMessage] = []
    current: list[DisplayMessage] = []
    for row in rows:
        belongs = turn_id is not None and row.turn_id == turn_id
        asked = row.message_type is MessageType.USER
        (current if belongs and not asked else settled).append(row)
    return settled, current


def seconds_taken(block: Block) -> float | None:
    """Return the seconds that a tool call took, if known."""
    seconds = block.row.metadata.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else None
