"""A tree of messages as Colloquy's turns and branches. Pure, iterative and bounded.

A person's message and all that follows it, up to the next one, is a turn. Versions of a person's
message, and other answers to it, are turns that are versions of each other, as after an edit or a
retry; where answers differ, the copy of the turn begins with what they share.
"""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from backend.imports.model import ImportedConversation, ImportedMessage, Part, Text, Thinking

MOST_MESSAGES = 100_000  # of one conversation
MOST_BRANCHES = 500
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class TooManyMessages(Exception):
    """The conversation has more than MOST_MESSAGES messages."""


@dataclass
class PlannedTurn:
    """A turn, or what comes before the first one; `parent` and `version_of` are indices."""

    messages: list[ImportedMessage]
    parent: int | None
    version_of: int | None = None

    @property
    def is_asked(self) -> bool:
        """Whether a person's message begins it."""
        return self.messages[0].role == "user"


@dataclass
class Plan:
    """The turns in the order in which they are written, each after its parent."""

    turns: list[PlannedTurn] = field(default_factory=list)
    tips: list[int] = field(default_factory=list)  # the last turn of each branch
    active: int = 0  # the place in `tips`
    notes: list[str] = field(default_factory=list)

    def chain(self, tip: int) -> list[int]:
        """Return the turns of a branch, from its first one."""
        found: list[int] = []
        place: int | None = tip
        while place is not None:
            found.append(place)
            place = self.turns[place].parent
        return found[::-1]


def plan(conversation: ImportedConversation) -> Plan:
    """Return the turns and branches of a conversation. Raise TooManyMessages."""
    if len(conversation.messages) > MOST_MESSAGES:
        raise TooManyMessages
    tree = _Tree(conversation)
    made = _Planner(tree).plan()
    made.notes = [*conversation.notes, *tree.notes, *made.notes]
    return made


class _Tree:
    """The messages with children; every message has at most one parent, and none its own."""

    def __init__(self, conversation: ImportedConversation) -> None:
        self.notes: list[str] = []
        places: dict[str, int] = {}
        self.messages: list[ImportedMessage] = []
        for message in conversation.messages:
            if message.id not in places:
                places[message.id] = len(self.messages)
                self.messages.append(_in_utc(message))
        self._say(
            len(conversation.messages) - len(self.messages),
            "with the id of another one; the first was kept",
        )
        self._link(places)
        self._skip_empty()
        self._sort_children()
        self.on_active = self._find_active(places.get(conversation.current or ""))

    def _link(self, places: dict[str, int]) -> None:
        """Find each message's parent; cut cycles, and put orphans behind the one before them."""
        roots = list(range(len(self.messages)))  # a forest, to find the root of a message fast
        self.parents: list[int | None] = []
        orphans = cycles = 0
        for place, message in enumerate(self.messages):
            parent = places.get(message.parent_id) if message.parent_id is not None else None
            if message.parent_id is not None and parent is None:
                orphans += 1
                parent = place - 1 if place else None
            if parent is not None and _root(roots, parent) == place:
                cycles += 1
                parent = None
            if parent is not None:
                roots[place] = parent
            self.parents.append(parent)
        self._say(orphans, "whose parent is missing; they follow the one before them in the file")
        self._say(cycles, "that was its own ancestor; the circle was cut there")

    def _skip_empty(self) -> None:
        """Connect the children of messages without content to what is above these."""
        self.is_empty = [not any(map(_says, message.parts)) for message in self.messages]
        for place in range(len(self.messages)):
            passed = [place]
            above = self.parents[place]
            while above is not None and self.is_empty[above]:
                passed.append(above)
                above = self.parents[above]
            for one in passed:
                self.parents[one] = above

    def _sort_children(self) -> None:
        self.children: list[list[int]] = [[] for _ in self.messages]
        self.first: list[int] = []
        times = [message.created_at or _EARLIEST for message in self.messages]
        for place in sorted(range(len(times)), key=lambda one: (times[one], one)):
            if not self.is_empty[place]:
                above = self.parents[place]
                (self.first if above is None else self.children[above]).append(place)

    def _find_active(self, current: int | None) -> frozenset[int]:
        """Return the messages of the active branch."""
        place = current
        if place is None:
            filled = (one for one in reversed(range(len(self.messages))) if not self.is_empty[one])
            place = next(filled, None)
        while place is not None and self.children[place]:
            place = self.children[place][-1]
        found = []
        while place is not None:
            found.append(place)
            place = self.parents[place]
        return frozenset(found)

    def _say(self, count: int, what: str) -> None:
        if count:
            messages = "message" if count == 1 else "messages"
            self.notes.append(f"{count:,} {messages} {what}.")


def _root(roots: list[int], place: int) -> int:
    while roots[place] != place:
        roots[place] = roots[roots[place]]
        place = roots[place]
    return place


@dataclass
class _Versions:
    """Turns that are versions of each other; `first` is the place of the one written first."""

    first: int | None = None


class _Planner:
    def __init__(self, tree: _Tree) -> None:
        self._tree = tree
        self._plan = Plan()
        self._written = 0
        self._left_out = 0
        self._beginnings = 0
        # Turns to be written: their first and last known message, and the parent. A turn is copied
        # up to where another answer to it begins.
        self._todo: list[tuple[int, int, int | None, _Versions]] = []

    def plan(self) -> Plan:
        """Return the plan of the whole tree."""
        tree, made = self._tree, self._plan
        before = [one for one in tree.first if tree.messages[one].role != "user"]
        asked = [one for one in tree.first if tree.messages[one].role == "user"]
        if before:
            kept = self._choose(before)
            self._todo.append((kept, kept, None, _Versions()))
        self._ask(asked, None)
        while self._todo:
            self._write(*self._todo.pop())
        if self._left_out:
            made.notes.append(
                f"{self._left_out:,} branches were left out: a conversation may have"
                f" {MOST_BRANCHES:,}, and {2 * MOST_MESSAGES:,} messages in all of them."
            )
        if self._beginnings:
            made.notes.append(
                f"{self._beginnings:,} other beginnings, before the first message of a person, were"
                " left out."
            )
        return made

    def _write(self, start: int, last: int, parent: int | None, versions: _Versions) -> None:
        """Write a turn, and plan what follows it."""
        messages, made = self._tree.messages, self._plan
        if self._is_full(0) and last not in self._tree.on_active:
            self._left_out += 1
            return
        said = [last]
        while said[-1] != start:
            said.append(self._tree.parents[said[-1]])  # type: ignore[arg-type]  # above is start
        said.reverse()
        while True:
            children = self._tree.children[said[-1]]
            asked = [one for one in children if messages[one].role == "user"]
            others = [one for one in children if messages[one].role != "user"]
            if others and messages[start].role != "user":
                others = [self._choose(others)]
            if others and asked and self._is_full(len(said)):
                is_asked = self._active_of([*others, *asked]) in asked
                self._left_out += len(others if is_asked else asked)
                others, asked = ([], asked) if is_asked else (others, [])
            if not others or asked:
                break
            following = self._active_of(others)
            rest = [one for one in others if one != following]
            self._todo += [(start, one, parent, versions) for one in reversed(rest)]
            said.append(following)
        place = len(made.turns)
        self._written += len(said)
        made.turns.append(PlannedTurn([messages[one] for one in said], parent, versions.first))
        if versions.first is None:
            versions.first = place
        if not children:
            if said[-1] in self._tree.on_active:
                made.active = len(made.tips)
            made.tips.append(place)
        self._todo += [(start, one, parent, versions) for one in reversed(others)]
        self._ask(asked, place)

    def _ask(self, asked: list[int], parent: int | None) -> None:
        """Plan the turns of what persons said in one place, which are versions of each other."""
        versions = _Versions()
        self._todo += [(one, one, parent, versions) for one in reversed(asked)]

    def _choose(self, beginnings: list[int]) -> int:
        """Return the beginning to keep: no turn is there whose versions they could be."""
        self._beginnings += len(beginnings) - 1
        return self._active_of(beginnings)

    def _active_of(self, places: list[int]) -> int:
        """Return the one on the active branch, else the first."""
        return next((one for one in places if one in self._tree.on_active), places[0])

    def _is_full(self, more: int) -> bool:
        return len(self._plan.tips) >= MOST_BRANCHES or self._written + more > 2 * MOST_MESSAGES


def _in_utc(message: ImportedMessage) -> ImportedMessage:
    at = message.created_at
    if at is None or at.tzinfo is not None:
        return message
    return replace(message, created_at=at.replace(tzinfo=UTC))


def _says(part: Part) -> bool:
    return not isinstance(part, Text | Thinking) or bool(part.text.strip())
