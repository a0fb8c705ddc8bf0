"""The context status of each display message, from the agent state's timeline. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil

from backend.conversations.display import assistant_drafts
from backend.inspection.timeline import Leaving, Span, Timeline, span_of
from backend.llm.wire.kept import CALLS, FIELDS, KEPT, THINKING
from backend.schemas.conversations.sessions import DisplayMessage
from backend.schemas.inspection import (
    ContextStatus,
    InspectedRow,
    Left,
    Origin,
    Pair,
    ReadMessage,
    Reason,
)
from backend.types import JSON
from colloquy_kit.messages.arguments import REASONING
from colloquy_kit.messages.display import text_of
from colloquy_kit.messages.kinds import ContentType, MessageStatus
from colloquy_kit.messages.state import is_summary

CHARS_PER_TOKEN = 4
READ = (ContentType.TEXT, ContentType.TOOL_CALL, ContentType.TOOL_RESULT)


@dataclass
class Reading:
    """What the model reads next, and what is known about how it came about.

    `messages`: of the state, in order. `pairs`: the message that each position of some turns
    became; `known`: the positions of these turns. `own`: the messages that these turns made.
    `otherwise`: the last request's text for messages of the state that it changed.
    """

    messages: Sequence[JSON]
    tokens: Sequence[int]
    timeline: Timeline
    pairs: dict[int, str]
    known: set[int]
    own: set[str]
    otherwise: Mapping[str, str] = field(default_factory=dict)
    spans: Sequence[Span] = ()

    def __post_init__(self) -> None:
        self.places = {message.get("id", ""): p for p, message in enumerate(self.messages)}
        self.paired = set(self.pairs.values())

    def follow_rebuilt(self, rows: Sequence[DisplayMessage]) -> None:
        """Pair rows with the messages rebuilt from them, which have their ids."""
        placed = {str(row.id): row for row in rows if str(row.id) in self.places}
        again = {self.pairs.get(row.position): name for name, row in placed.items()}
        again.pop(None, None)
        self.pairs = {position: again.get(name, name) for position, name in self.pairs.items()}
        self.pairs |= {row.position: name for name, row in placed.items()}
        self.paired = set(self.pairs.values())

    def read(self, place: int) -> ReadMessage:
        """Return the message at this place in the shown form."""
        message = self.messages[place]
        name = message.get("id", "")
        return ReadMessage(
            id=name,
            place=place,
            role=message["role"],
            text=text_of(message),
            calls=[_call(call) for call in message.get("tool_calls") or ()],
            tokens=self.tokens[place],
            origin=self._origin(message),
            sent=self.otherwise.get(name),
            returned=_returned(message),
        )

    def context_status(self, row: DisplayMessage) -> tuple[ContextStatus, Leaving | None]:
        """Return a display message's context status, and how it left if it did."""
        name = self.pairs.get(row.position)
        if name is None:
            return (
                ContextStatus.PEOPLE_ONLY if self._is_for_people(row) else ContextStatus.UNKNOWN
            ), None
        if row.content_type not in READ:
            return ContextStatus.PEOPLE_ONLY, None
        place = self.places.get(name)
        if place is not None:
            is_same = says_same(row, self.messages[place]) and name not in self.otherwise
            return (ContextStatus.KEPT if is_same else ContextStatus.EDITED), None
        leaving = self.timeline.left_at(name)
        if leaving is None:
            return ContextStatus.DROPPED, None
        is_told = leaving.reason is Reason.SUMMARY
        return (ContextStatus.SUMMARISED if is_told else ContextStatus.DROPPED), leaving

    def left(self, leaving: Leaving) -> Left | None:
        """Return when that happened, in turns and steps."""
        span = span_of(self.spans, leaving.version)
        if span is None:
            return None
        step = self.timeline.steps_before(span.first, leaving.version) + 1
        return Left(reason=leaving.reason, turn=span.turns[0].number, step=step)

    def _is_for_people(self, row: DisplayMessage) -> bool:
        return row.position in self.known or row.content_type not in READ

    def is_unseen(self, place: int) -> bool:
        """Return whether a message belongs to no display message, as far as known here."""
        name = self.messages[place].get("id", "")
        if name in self.timeline.summaries or is_summary(self.messages[place]):
            return True
        return name in self.own and name not in self.paired

    def _origin(self, message: JSON) -> Origin:
        if is_summary(message):
            return Origin.SUMMARY
        name = message.get("id", "")
        if name in self.paired or name not in self.own:
            return Origin.SAID
        return Origin.REPAIRED if message["role"] == "tool" else Origin.POLICY


def pair_up(rows: Sequence[DisplayMessage], reading: Reading, is_latest: bool) -> Iterator[Pair]:
    """Yield a page's rows grouped by message, with unseen messages in their places."""
    unseen = _unseen_before(reading, {reading.pairs.get(row.position) for row in rows})
    of_row = {row.position: reading.pairs.get(row.position) or str(row.id) for row in rows}
    for name, group in groupby(rows, key=lambda row: of_row[row.position]):
        place = reading.places.get(name)
        for before in unseen.pop(name, ()):
            yield Pair(shown=[], reads=reading.read(before))
        shown = [_inspect(row, reading) for row in group]
        yield Pair(shown=shown, reads=None if place is None else reading.read(place))
    for after in unseen.pop("", ()) if is_latest else ():
        yield Pair(shown=[], reads=reading.read(after))


def tokens_in(text: str) -> int:
    """Return roughly how many tokens a text has."""
    return ceil(len(text) / CHARS_PER_TOKEN)


def says_same(row: DisplayMessage, message: JSON) -> bool:
    """Return whether the message still says what the row shows."""
    if row.content_type is ContentType.TOOL_CALL:
        drafts = assistant_drafts(message, "", MessageStatus.COMPLETED)
        return row.content in [draft.content for draft in drafts]
    text = row.content.get("text") or row.content.get("content") or ""
    return text == text_of(message)


def _unseen_before(reading: Reading, of_page: set[str | None]) -> dict[str, list[int]]:
    """Return unseen messages by the page's message that they precede; '' for the end."""
    found: dict[str, list[int]] = {}
    waiting: list[int] = []
    for place, message in enumerate(reading.messages):
        name = message.get("id", "")
        if reading.is_unseen(place):
            waiting.append(place)
            continue
        if waiting and name in of_page:
            found[name] = waiting
        waiting = []
    if waiting:
        found[""] = waiting
    return found


def _inspect(row: DisplayMessage, reading: Reading) -> InspectedRow:
    context_status, leaving = reading.context_status(row)
    is_read = row.content_type in READ
    return InspectedRow(
        message=row,
        context_status=context_status,
        tokens=tokens_in(_words(row.content)) if is_read else 0,
        left=leaving and reading.left(leaving),
    )


def _words(content: JSON) -> str:
    if "arguments" in content:
        return f"{content.get('name')} {content['arguments']}"
    return str(content.get("text") or content.get("content") or "")


def _returned(message: JSON) -> JSON:
    """Return a message's provider-specific fields, which go to its own provider only."""
    extra = message.get("additional_kwargs") or {}
    kept = extra.get(KEPT) or {}
    thinking = dict.fromkeys(kept.get(THINKING) or (), extra.get(REASONING) or "")
    given = {FIELDS: {**(kept.get(FIELDS) or {}), **thinking}, CALLS: kept.get(CALLS)}
    return {name: value for name, value in given.items() if value}


def _call(call: JSON) -> JSON:
    function = call.get("function", {})
    names = {"id": call.get("id"), "name": function.get("name")}
    return {**names, "arguments": function.get("arguments")}
