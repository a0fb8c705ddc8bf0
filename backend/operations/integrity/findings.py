"""Invariants of one conversation between any two commits: pure rules."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.conversations.display import STATE_WRITTEN
from backend.errors.conversations import CorruptState, corrupt_if_it_fails
from backend.schemas.conversations.sessions import DisplayMessage
from backend.text import counted
from backend.types import JSON
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from colloquy_kit.messages.repair import repair
from colloquy_kit.messages.state import is_brief, is_summary, load_values

OPEN = (MessageStatus.PENDING, MessageStatus.EXECUTING)


class Repair(StrEnum):
    """The repair proposed for a finding."""

    REBUILD = "rebuild the agent state from the messages"
    CLOSE = "mark the open rows as stopped"
    INDEX = "index its messages for the search"
    NONE = "restore this conversation from a backup"


@dataclass(frozen=True)
class Finding:
    """An inconsistency, in words, and the repair proposed for it."""

    problem: str
    repair: Repair


@dataclass(frozen=True)
class Conversation:
    """Everything stored of a conversation. `state` is None if it cannot be read.

    `versions` are those of the deltas after the snapshot, `snapshot` is its version, `newest` the
    newest that anything names. `unindexed` counts messages without a search entry, `unmade` those
    that name missing artifact versions.
    """

    rows: Sequence[DisplayMessage]
    message_count: int
    state: JSON | None
    snapshot: int
    versions: Sequence[int]
    newest: int
    has_unfinished_turn: bool
    unindexed: int = 0
    unmade: int = 0


def find_all(conversation: Conversation) -> list[Finding]:
    """Return everything that is wrong with a conversation."""
    return [finding for check in CHECKS for finding in check(conversation)]


def _positions(conversation: Conversation) -> Iterator[Finding]:
    positions = [row.position for row in conversation.rows]
    if positions != list(range(1, len(positions) + 1)):
        yield Finding("the positions of its messages have a gap", Repair.NONE)
    if len(positions) != conversation.message_count:
        believed = counted(conversation.message_count, "message")
        yield Finding(f"it counts {believed} and has {len(positions):,}", Repair.NONE)


def _versions(conversation: Conversation) -> Iterator[Finding]:
    wanted = range(conversation.snapshot + 1, conversation.newest + 1)
    if list(conversation.versions) != list(wanted):
        problem = "the versions of its agent state have a gap, or its newest are missing"
        yield Finding(problem, Repair.REBUILD)


def _readable(conversation: Conversation) -> Iterator[Finding]:
    try:
        if conversation.state is None:
            raise CorruptState
        with corrupt_if_it_fails():
            load_values(conversation.state)
    except CorruptState:
        yield Finding("its agent state cannot be read", Repair.REBUILD)


def _valid(conversation: Conversation) -> Iterator[Finding]:
    """Yield calls without results and results without calls, unless a turn is still running."""
    if conversation.state is None or conversation.has_unfinished_turn:
        return
    if repair(conversation.state, "")[0] is not conversation.state:
        yield Finding("its agent state has calls without results, or the reverse", Repair.REBUILD)


def _open_rows(conversation: Conversation) -> Iterator[Finding]:
    if conversation.has_unfinished_turn:
        return
    count = sum(row.status in OPEN for row in conversation.rows)
    if count:
        yield Finding(f"{count} messages look as if they still ran", Repair.CLOSE)


def _views(conversation: Conversation) -> Iterator[Finding]:
    """Yield user messages and tool results in the state that people have not seen as they are.

    Where somebody has written the state, a notice tells people that it has other words.
    """
    is_written = any(STATE_WRITTEN in row.metadata for row in conversation.rows)
    if conversation.state is None or is_written:
        return
    shown = Counter(map(_shown, conversation.rows))
    read = Counter(
        (message["role"], message["content"])
        for message in conversation.state["messages"]
        if message["role"] in _SHOWN_ROLES and isinstance(message["content"], str)
        if not is_summary(message) and not is_brief(message)
    )
    if missing := read - shown:
        count = missing.total()
        problem = f"{count} messages that the model reads were never shown, or in other words"
        yield Finding(problem, Repair.REBUILD)


def _search(conversation: Conversation) -> Iterator[Finding]:
    if conversation.unindexed:
        yield Finding(f"the search does not know {conversation.unindexed} messages", Repair.INDEX)


def _artifacts(conversation: Conversation) -> Iterator[Finding]:
    if conversation.unmade:
        problem = f"{conversation.unmade} messages name versions of artifacts that do not exist"
        yield Finding(problem, Repair.NONE)


def _shown(row: DisplayMessage) -> tuple[str, str]:
    if row.message_type is MessageType.USER:
        return "user", row.content.get("text", "")
    if row.content_type is ContentType.TOOL_RESULT:
        return "tool", row.content.get("content", "")
    return "", ""


_SHOWN_ROLES = ("user", "tool")
CHECKS: Sequence[Callable[[Conversation], Iterator[Finding]]] = (
    _positions,
    _versions,
    _readable,
    _valid,
    _open_rows,
    _views,
    _search,
    _artifacts,
)
