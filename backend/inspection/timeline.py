"""The history of each message of the agent state: when it came, when it left, and why. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from backend.schemas.inspection import Reason


@dataclass(frozen=True)
class Change:
    """What one delta changed, by message ids; `keep` is None if no tail was cut.

    `is_step`: an agent made it. `summaries`: the summaries among its messages.
    """

    version: int
    prepended: Sequence[str] = ()
    drop: int = 0
    keep: int | None = None
    appended: Sequence[str] = ()
    is_step: bool = False
    summaries: Sequence[str] = ()


@dataclass(frozen=True)
class Leaving:
    """How a message left: at this version, for this reason; `summary` replaces it."""

    version: int
    reason: Reason
    summary: str | None = None


@dataclass
class Timeline:
    """All changes of a state, one after the other."""

    ids: list[str] = field(default_factory=list)
    born: dict[str, int] = field(default_factory=dict)
    order: list[tuple[int, str]] = field(default_factory=list)
    left: dict[str, Leaving] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    summaries: set[str] = field(default_factory=set)
    ids_at: dict[int, list[str]] = field(default_factory=dict)

    def follow(self, changes: Iterable[Change], remember: int | None = None) -> "Timeline":
        """Take the changes, in order of version; remember the ids at one of them."""
        for change in changes:
            self._take(change)
            if change.version == remember:
                self.ids_at[remember] = list(self.ids)
        return self

    def made_between(self, first: int, last: int | None) -> list[str]:
        """Return the messages added from version `first` to before `last`, in order."""
        begin = bisect_left(self.order, first, key=lambda came: came[0])
        end = None if last is None else bisect_left(self.order, last, key=lambda came: came[0])
        return [name for _, name in self.order[begin:end]]

    def steps_before(self, first: int, version: int) -> int:
        """Return how many steps were made from version `first` to before `version`."""
        return bisect_left(self.steps, version) - bisect_left(self.steps, first)

    def left_at(self, name: str) -> Leaving | None:
        """Return how a message's content left; None while the model reads the message itself.

        A summary that left without a replacement no longer stands for it.
        """
        chain: list[Leaving] = []
        gone: str | None = name
        while gone is not None and (leaving := self.left.get(gone)) is not None:
            chain.append(leaving)
            gone = leaving.summary
        found: Leaving | None = None
        for leaving in reversed(chain):
            found = leaving if found is None or found.reason is Reason.SUMMARY else found
        return found

    def _take(self, change: Change) -> None:
        end = len(self.ids) if change.keep is None else change.drop + change.keep
        front, tail = self.ids[: change.drop], self.ids[end:]
        del self.ids[end:]
        del self.ids[: change.drop]
        self.ids[:0] = change.prepended
        self.ids += change.appended
        came = {*change.prepended, *change.appended}
        summary = next((s for s in change.summaries if s not in self.born), None)
        for gone, reason in ((front, Reason.TRIMMED), (tail, Reason.TAKEN_BACK)):
            for name in gone:
                if name not in came:
                    why = Reason.SUMMARY if summary else reason
                    self.left[name] = Leaving(change.version, why, summary)
        is_new = False
        for name in (*change.prepended, *change.appended):
            if name not in self.born:
                is_new = True
                self.born[name] = change.version
                self.order.append((change.version, name))
            self.left.pop(name, None)
        self.summaries.update(change.summaries)
        if change.is_step and is_new:
            self.steps.append(change.version)


@dataclass(frozen=True)
class TurnStart:
    """A turn as the timeline needs it: its number in the session, from 1, and when it began.

    `version`: the first that belongs to it; None if not stored, or if it never began.
    """

    id: UUID
    number: int
    agent: str
    version: int | None
    started_at: datetime | None = None


@dataclass(frozen=True)
class Span:
    """Turns whose versions can only be distinguished by time, such as one and its retries.

    Their versions are those from `first` to before the next span.
    """

    first: int
    turns: tuple[TurnStart, ...]

    def turn_at(self, moment: datetime) -> TurnStart:
        """Return the turn that was active at that moment."""
        begun = [t for t in self.turns if t.started_at and t.started_at <= moment]
        return (begun or self.turns)[-1 if begun else 0]


def make_spans(turns: Iterable[TurnStart]) -> list[Span]:
    """Return the spans of all of a session's turns, given in order, by version."""
    spans: dict[int, list[TurnStart]] = {}
    first = 1
    for turn in turns:
        first = turn.version or first
        spans.setdefault(first, []).append(turn)
    return [Span(first, tuple(spans[first])) for first in sorted(spans)]


def span_of(spans: Sequence[Span], version: int) -> Span | None:
    """Return the span that made a version."""
    found = bisect_right(spans, version, key=lambda span: span.first)
    return spans[found - 1] if found else None
