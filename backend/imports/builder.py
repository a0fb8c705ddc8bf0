"""Builds the messages of a conversation from those of another program, one rule for all formats.

Others keep a turn in one message, or in nodes of their own kinds. Here the messages of a person, of
a model and each result of a call stand alone; each result follows its call; what is empty is passed
over; and each message's parent stands before it, unless it is missing or the tree goes round.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from backend.imports.model import (
    Attachment,
    Call,
    ImportedMessage,
    Part,
    Result,
    Role,
    Text,
    Thinking,
)
from backend.imports.values import Notes, identifier, moment, name

_MOST_OPEN = 64  # calls that wait for results at one place of the tree


@dataclass
class _Node:
    """A message of the other program; without parts it only leads to its parent."""

    id: str
    parent: str | None
    role: Role
    parts: list[Part]
    created_at: datetime | None
    author: str | None
    model: str | None


@dataclass(frozen=True)
class _Open:
    """A call without a result yet: its id there, which can be missing, and its id here."""

    theirs: str
    call: Call


@dataclass(frozen=True)
class _End:
    """Where the children of a node continue: the last message, and the calls open after it."""

    message: str | None = None
    open: tuple[_Open, ...] = ()


@dataclass
class Builder:
    """Takes the messages of a conversation in any order."""

    notes: Notes
    _nodes: dict[str, _Node] = field(default_factory=dict)
    _ends: dict[str, _End] = field(default_factory=dict)
    _messages: list[ImportedMessage] = field(default_factory=list)
    _call_ids: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        key: str,
        parent: str | None,
        role: Role,
        parts: list[Part],
        *,
        at: Any = None,
        author: Any = None,
        model: Any = None,
    ) -> None:
        """Add a message. `at`, `author`, `model`: as they stand in the file."""
        if key in self._nodes:
            self.notes.say("A message whose id another one has was left out.")
            return
        created_at = moment(at)
        if created_at is None and at is not None:
            self.notes.say("The time of a message is not readable.")
        parts = [part for part in parts if not _is_empty(part)]
        self._nodes[key] = _Node(
            key, parent, role, parts, created_at, name(author) or None, name(model) or None
        )

    def __contains__(self, key: str) -> bool:
        return key in self._nodes

    def finish(self, current: Any) -> tuple[list[ImportedMessage], str | None]:
        """Return the messages, parents first, and the last one of the active branch."""
        for key in list(self._nodes):
            for node in self._unfinished(key):
                self._place(node)
        chosen = identifier(current)
        if chosen is not None and chosen not in self._ends:
            self.notes.say("The message that was open last is missing; the last one is taken.")
            chosen = None
        return self._messages, self._ends[chosen].message if chosen else None

    def _unfinished(self, key: str) -> list[_Node]:
        """Return the node and its ancestors that are not placed yet, the uppermost first."""
        chain: list[_Node] = []
        seen: set[str] = set()
        at: str | None = key
        while at is not None and at not in self._ends:
            node = self._nodes.get(at)
            if node is None or at in seen:
                break  # an orphan, or a circle: the writer finds a place for it
            seen.add(at)
            chain.append(node)
            at = node.parent
        return chain[::-1]

    def _place(self, node: _Node) -> None:
        """Make the messages of a node, and set where its children continue."""
        end = _End() if node.parent is None else self._ends.get(node.parent, _End(node.parent))
        if node.role == "user" and node.parts:
            end = replace(end, open=())
        group: list[Part] = []
        used = 0
        for part in node.parts:
            if isinstance(part, Result):
                end, used = self._emit(node, node.role, group, end, used)
                end, used = self._answer(node, part, end, used)
                group = []
            elif used and not group and (isinstance(part, Attachment) or node.role == "tool"):
                self._messages[-1].parts.append(part)  # a file that a tool returned
            else:
                group.append(part)
        role: Role = "assistant" if node.role == "tool" else node.role
        end, used = self._emit(node, role, group, end, used)
        self._ends[node.id] = end

    def _emit(
        self, node: _Node, role: Role, parts: list[Part], end: _End, used: int
    ) -> tuple[_End, int]:
        """Make one message of the parts, if there are any."""
        if not parts:
            return end, used
        key = f"{node.id}#{used}" if used else node.id
        while used and key in self._nodes:
            key += "#"
        called: list[_Open] = []
        for place, part in enumerate(parts):
            if isinstance(part, Call):
                own = self._own_id(part.call_id or f"call-{key}-{place}")
                parts[place] = replace(part, call_id=own, name=part.name or "tool")
                called.append(_Open(part.call_id, replace(part, call_id=own)))
        self._messages.append(
            ImportedMessage(
                id=key,
                parent_id=end.message,
                role="assistant" if role == "tool" and called else role,
                parts=parts,
                created_at=node.created_at,
                author=node.author,
                model=node.model,
            )
        )
        return _End(key, (*end.open, *called)[-_MOST_OPEN:]), used + 1

    def _answer(self, node: _Node, result: Result, end: _End, used: int) -> tuple[_End, int]:
        """Make a message of a result, after that of its call."""
        waiting = [one for one in end.open if not result.call_id or one.theirs == result.call_id]
        if not waiting:
            self.notes.say("A result stands without its call, which was added without arguments.")
            call = Call(result.call_id, result.name or "tool", {})
            end, used = self._emit(node, "assistant", [call], end, used)
            waiting = [end.open[-1]]
        found = waiting[0]
        rest = tuple(one for one in end.open if one is not found)
        answer = replace(
            result, call_id=found.call.call_id, name=result.name or found.call.name or "tool"
        )
        end, used = self._emit(node, "tool", [answer], replace(end, open=rest), used)
        return end, used

    def _own_id(self, wanted: str) -> str:
        own = wanted
        while own in self._call_ids:
            self._call_ids[wanted] += 1
            own = f"{wanted}#{self._call_ids[wanted]}"
        self._call_ids[own] = 1
        return own


def _is_empty(part: Part) -> bool:
    return isinstance(part, Text | Thinking) and not part.text.strip()
