"""A file with conversations of all kinds, and what a migration has to report of each."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from backend.legacy.plan import Outcome, Reason
from backend.types import JSON
from tests.samples.legacy import SECOND, Sample, said
from tests.stack import Stack

SERVERS = {
    "clock": {"command": "sleep", "args": ["60"]},
    "leaking": {"command": "sleep", "env": {"API_KEY": "sk-abcdefghijklmnop"}},
}
LEFT_OUT = (
    "The tool server 'leaking' was left out: Its variable API_KEY contains a literal credential."
    " Put it into the worker's environment, or into `.env`, and name it here:"
    " ${COLLOQUY_SECRET_…}."
)


@dataclass(frozen=True)
class Known:
    """What the report has to say of a row."""

    outcome: Outcome
    reason: Reason
    messages: int = 0
    is_mixed: bool = False
    title: str = ""


@dataclass
class Kinds:
    """The file, and what is known of its rows by their ids. `name` makes its ids its own."""

    name: str
    sample: Sample
    known: dict[str, Known] = field(default_factory=dict)
    on_first: dict[str, list[str]] = field(default_factory=dict)  # rows by their domain

    def domain_of(self, number: int) -> str:
        return f"{self.name}-d{number % 7}"

    def add(self, number: int) -> None:
        """Add a row, of the next kind."""
        kinds = (
            self._kept, self._bound, self._agent, self._null, self._blank, self._other,
            self._unknown_domain, self._session_alone, self._pair, self._pair, self._milliseconds,
            self._broken, self._untitled,
        )  # fmt: skip
        kinds[number % len(kinds)](number, f"{self.name}-{number}")

    def _kept(self, number: int, id: str) -> None:
        self._image(number, id, said("Hello", "Hello to you"))
        self._row(number, id, f"img_{id}", Outcome.KEPT, Reason.IMAGE, 2)

    def _bound(self, number: int, id: str) -> None:
        self._image(number, id, said("One", "Two", "Three", "Four"))
        self._row(number, id, f"sess_{id}", Outcome.BOUND, Reason.SESSION, 4)

    def _agent(self, number: int, id: str) -> None:
        self._row(number, id, f"agent_{id}", Outcome.RECREATED, Reason.AGENT, 3)

    def _null(self, number: int, id: str) -> None:
        self._row(number, id, None, Outcome.REPORTED, Reason.NOTHING)

    def _blank(self, number: int, id: str) -> None:
        self._row(number, id, "", Outcome.REPORTED, Reason.NOTHING)

    def _other(self, number: int, id: str) -> None:
        self._row(number, id, f"thread_{id}", Outcome.REPORTED, Reason.OTHER)

    def _unknown_domain(self, number: int, id: str) -> None:
        known = Outcome.REPORTED, Reason.DOMAIN
        self._row(number, id, f"agent_{id}", *known, domain=f"{self.name}-nowhere")

    def _session_alone(self, number: int, id: str) -> None:
        known = Outcome.RECREATED, Reason.SESSION_ALONE
        self._row(number, id, f"sess_{id}", *known, 3)

    def _pair(self, number: int, id: str) -> None:
        first = number if number % 13 == 8 else number - 1
        shared = f"{self.name}-{first}"
        if first == number:
            self._image(number, shared, said("Whose", "is this?"))
        domain, known = self.domain_of(first), (Outcome.KEPT, Reason.IMAGE, 2)
        self._row(number, id, f"img_{shared}", *known, is_mixed=True, domain=domain)

    def _milliseconds(self, number: int, id: str) -> None:
        self._image(number, id, [])
        self._row(number, id, f"img_{id}", Outcome.KEPT, Reason.IMAGE, at=SECOND * 1000)

    def _broken(self, number: int, id: str) -> None:
        self._image(number, id, said("Hello"))
        self._row(number, id, f"img_{id}", Outcome.KEPT, Reason.IMAGE, 1)
        self.sample.connection.execute(
            "UPDATE conversations SET title = CAST(x'636166e9' AS TEXT) WHERE id = ?", (id,)
        )
        self.known[id] = Known(Outcome.KEPT, Reason.IMAGE, 1, title="caf\ufffd")

    def _untitled(self, number: int, id: str) -> None:
        known = Outcome.RECREATED, Reason.AGENT
        self._row(number, id, f"agent_{id}", *known, 3, title=None)

    def _image(self, number: int, id: str, messages: list[JSON]) -> None:
        self.sample.image(
            f"img_{id}", f"sess_{id}", domain=self.domain_of(number), messages=messages,
            at=(SECOND - 10) * 1000, systemPrompt=f"You are {id}.",
        )  # fmt: skip

    def _row(
        self,
        number: int,
        id: str,
        session_id: str | None,
        outcome: Outcome,
        reason: Reason,
        messages: int = 0,
        *,
        is_mixed: bool = False,
        domain: str = "",
        title: Any = "A title",
        at: int = SECOND,
    ) -> None:
        domain = domain or self.domain_of(number)
        self.sample.row(id, session_id, domain=domain, title=title, at=at)
        self.known[id] = Known(outcome, reason, messages, is_mixed, title or f"Conversation {id}")
        if messages == 3:
            self.on_first.setdefault(domain, []).append(id)

    def mark_mixed(self) -> None:
        """Mark what ran on the first image of its domain beside others."""
        for ids in self.on_first.values():
            for id in ids if len(ids) > 1 else ():
                self.known[id] = replace(self.known[id], is_mixed=True)


def make_kinds(path: Path, count: int, name: str) -> Kinds:
    """Write a file with so many rows, in seven domains whose first images ran what names none."""
    kinds = Kinds(name, Sample(path))
    for number in range(7):
        domain = kinds.domain_of(number)
        kinds.sample.domain(domain, f"You help {domain}.", SERVERS)
        kinds.sample.image(
            f"img_{domain}", f"sess_{domain}", domain=domain, messages=said("A", "B", "C")
        )
    kinds.sample.put(f"messages:sess_{name}-left", said("Nobody's"))
    for number in range(count):
        kinds.add(number)
    kinds.mark_mixed()
    kinds.sample.done()
    return kinds


def check_report(report: JSON, kinds: Kinds) -> None:
    """Check that a report says of each row what is known of it, and of no other one."""
    found = {
        row["id"]: Known(
            Outcome(row["outcome"]),
            Reason(row["reason"]),
            row["messages"],
            row["is_mixed"],
            kinds.known[row["id"]].title,
        )
        for row in report["rows"]
    }
    assert found == kinds.known
    assert len(report["rows"]) == len(kinds.known)
    idle = {kinds.domain_of(number) for number in range(7)} - kinds.on_first.keys()
    assert set(report["sessions_left"]) == {f"sess_{one}" for one in (f"{kinds.name}-left", *idle)}
    assert report["mixed"] == sum(known.is_mixed for known in kinds.known.values())
    for row in report["rows"]:
        assert (row["session"] is None) == (row["outcome"] == "reported"), row


def check_stored(stack: Stack, report: JSON, kinds: Kinds) -> None:
    """Check that each row that was taken is one conversation, with its title and messages."""
    ids = [row["session"] for row in report["rows"] if row["session"]]
    stored = stack.query(
        "SELECT id::text, title, (SELECT count(*) FROM display_messages AS said"
        " WHERE said.conversation_id = conversations.id AND content_type = 'text'),"
        " metadata -> 'legacy' ->> 'id' FROM conversations"
        f" WHERE metadata -> 'legacy' ->> 'id' LIKE '{kinds.name}-%'"
    )
    assert sorted(id for id, *_ in stored) == sorted(ids)
    for _, title, messages, id in stored:
        known = kinds.known[id]
        assert (title, messages) == (known.title, known.messages), (id, title, messages, known)


def read_report(path: Path) -> JSON:
    return json.loads(path.read_text(encoding="utf-8"))
