"""An imported conversation in the form in which it is stored. Pure, so that no transaction waits.

Each turn gets its rows and a version of the agent state, as if it had been asked here: it can be
retried, edited and left for another branch. The state holds the recent part only.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from backend.conversations.messages import shown_as
from backend.conversations.paths import Path
from backend.conversations.state.delta import diff_states
from backend.conversations.state.shown import pack_delta
from backend.conversations.views import row_of
from backend.imports.model import Attachment, ImportedConversation
from backend.imports.tree import Plan, PlannedTurn, plan
from backend.imports.turn_messages import TurnViews, make_views
from backend.imports.window import RECENT_CHARS, RECENT_MESSAGES, recent, size_of
from backend.types import JSON
from colloquy_kit.messages.display import Draft, notice
from colloquy_kit.messages.state import empty_state

MOST_NOTES = 20
SUCCEEDED = "succeeded"


@dataclass
class Prepared:
    """What is stored of a conversation; `files` are attachments by the positions of their rows."""

    conversation: ImportedConversation
    id: UUID
    digest: str
    rows: list[JSON] = field(default_factory=list)
    files: dict[int, Attachment] = field(default_factory=dict)
    turns: list[JSON] = field(default_factory=list)
    deltas: list[JSON] = field(default_factory=list)
    branches: list[JSON] = field(default_factory=list)
    state: JSON = field(default_factory=empty_state)
    path: list[list[int | None]] | None = None
    branch: int = 1
    created_at: datetime = datetime.min
    updated_at: datetime = datetime.min
    notes: list[str] = field(default_factory=list)

    @property
    def version(self) -> int:
        """The version of the state."""
        return len(self.deltas)


def digest_of(conversation: ImportedConversation) -> str:
    """Return what tells whether a conversation has changed in its source."""
    found = hashlib.sha256()
    for message in conversation.messages:
        said = repr((message.id, message.parent_id, message.role, message.parts))
        found.update(said.encode("utf-8", "replace"))
    return found.hexdigest()


def prepare(
    conversation: ImportedConversation, agent: str, label: str, conversation_id: UUID | None = None
) -> Prepared:
    """Return what to store. `agent`: whose the answers are; `label`: the source, for people.

    Raise TooManyMessages.
    """
    planned = plan(conversation)
    made = Prepared(conversation, conversation_id or uuid4(), digest_of(conversation))
    made.notes = planned.notes
    _set_times(made)
    writer = _Writer(made, planned, agent)
    for place in range(len(planned.turns)):
        writer.write(place)
    writer.set_branches()
    writer.say(label)
    return made


class _Writer:
    """Writes turn after turn; the state follows, also from one branch to another."""

    def __init__(self, made: Prepared, planned: Plan, agent: str) -> None:
        self._made, self._plan, self._agent = made, planned, agent
        self._ranges: list[tuple[int, int]] = []  # by turn, as all of these
        self._messages: list[list[JSON]] = []  # packed
        self._sizes: list[int] = []
        self._versions: list[int] = []
        self._ids: list[UUID] = []
        self._at = made.created_at
        self._current: list[JSON] = []  # what the state holds
        self._dropped = 0

    def write(self, place: int) -> None:
        """Write one turn."""
        turn, made = self._plan.turns[place], self._made
        if turn.parent != (place - 1 if place else None):
            self._move_to(self._recent(turn.parent))
        views = make_views(turn.messages, self._agent)
        self._dropped += views.dropped
        turn_id, first, began = uuid4(), len(made.rows) + 1, self._at
        for draft, at, file in views.drafts:
            self._add_row(draft, at, file, turn_id if turn.is_asked else None)
        rows = [shown_as(row) for row in made.rows[first - 1 :]]
        self._messages.append(pack_delta({"append": views.messages}, rows)["append"])
        self._sizes.append(size_of(views.messages))
        self._ranges.append((first, len(made.rows)))
        self._ids.append(turn_id)
        self._move_to(self._recent(place))
        self._versions.append(len(made.deltas))
        if turn.is_asked:
            began = made.rows[first - 1]["created_at"]
            made.turns.append(self._turn(turn, turn_id, views, first, began))

    def set_branches(self) -> None:
        """Set the branches, and show the active one."""
        made, planned = self._made, self._plan
        if len(planned.tips) > 1:
            made.branch = planned.active + 1
            paths = [self._path(tip) for tip in planned.tips]
            made.path = paths[planned.active].extend(len(made.rows) + 1).dump()
            made.branches = [
                {"number": number, "path": path.dump(), "state_version": self._versions[tip]}
                for number, (path, tip) in enumerate(zip(paths, planned.tips, strict=True), 1)
            ]
        if planned.tips:
            self._move_to(self._recent(planned.tips[planned.active]), is_needed=False)
        made.state = {**empty_state(), "messages": self._current}

    def say(self, label: str) -> None:
        """Add the notice of where the conversation came from, and what was changed."""
        made, planned = self._made, self._plan
        if self._dropped:
            made.notes.append(
                f"{self._dropped:,} results of tools without their calls were left out."
            )
        chain = planned.chain(planned.tips[planned.active]) if planned.tips else []
        whole = sum(len(self._messages[place]) for place in chain)
        if whole > len(self._current):
            made.notes.append(
                f"The agent reads the last {len(self._current):,} of {whole:,} messages: at most"
                f" {RECENT_MESSAGES:,} with {RECENT_CHARS:,} characters."
            )
        if made.conversation.model:
            made.notes.append(f"The model there was {made.conversation.model[:200]}.")
        notes = made.notes[:MOST_NOTES]
        words = " ".join([f"Imported from {label}.", *(note[:500] for note in notes)])
        self._add_row(notice(words), made.updated_at, None, None)

    def _add_row(
        self, draft: Draft, at: datetime | None, file: Attachment | None, turn_id: UUID | None
    ) -> None:
        made = self._made
        self._at = _usable(at) or self._at
        position = len(made.rows) + 1
        made.rows.append(row_of(draft, made.id, turn_id, position, self._at))
        if file is not None:
            made.files[position] = file

    def _turn(
        self, turn: PlannedTurn, turn_id: UUID, views: TurnViews, first: int, began: datetime
    ) -> JSON:
        forked = None if turn.version_of is None else self._ids[turn.version_of]
        return {
            "id": turn_id,
            "agent": self._agent,
            "message": views.question,
            "message_position": first,
            "state_version": self._versions[-1],
            "fork_of": forked,
            "status": SUCCEEDED,
            "created_at": began,
            "started_at": None,  # how long an answer took there is not known
            "finished_at": max(began, self._at),
        }

    def _recent(self, place: int | None) -> list[JSON]:
        """Return what the agent reads at the end of a turn."""
        turns: list[tuple[list[JSON], int]] = []
        count = size = 0
        while place is not None and count <= RECENT_MESSAGES and size <= RECENT_CHARS:
            turns.append((self._messages[place], self._sizes[place]))
            count, size = count + len(self._messages[place]), size + self._sizes[place]
            place = self._plan.turns[place].parent
        return recent(turns[::-1])

    def _move_to(self, wanted: list[JSON], *, is_needed: bool = True) -> None:
        """Add the delta that makes the state hold these messages."""
        delta = diff_states({"messages": self._current}, {"messages": wanted})
        if delta or is_needed:
            version = len(self._made.deltas) + 1
            self._made.deltas.append({"version": version, "delta": delta, "calls": None})
        self._current = wanted

    def _path(self, tip: int) -> Path:
        ranges: list[tuple[int, int | None]] = []
        for first, last in (self._ranges[place] for place in self._plan.chain(tip)):
            if last < first:
                continue
            if ranges and ranges[-1][1] == first - 1:
                ranges[-1] = (ranges[-1][0], last)
            else:
                ranges.append((first, last))
        return Path(tuple(ranges))


def _set_times(made: Prepared) -> None:
    """Set when the conversation began and was changed last, from its messages if it does not say.

    Times that no database can hold, and those in the future, are not taken.
    """
    said = made.conversation
    times = sorted(filter(None, map(_usable, (m.created_at for m in said.messages))))
    now = datetime.now(UTC)
    first = _usable(said.created_at) or (times[0] if times else now)
    last = _usable(said.updated_at) or (times[-1] if times else first)
    made.created_at, made.updated_at = first, max(first, last)


def _usable(at: datetime | None) -> datetime | None:
    if at is None:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return at if datetime(1970, 1, 2, tzinfo=UTC) <= at <= datetime.now(UTC) else None


def count_parts(conversation: ImportedConversation) -> Iterator[Attachment]:
    """Yield the attachments of a conversation."""
    for message in conversation.messages:
        yield from (part for part in message.parts if isinstance(part, Attachment))
