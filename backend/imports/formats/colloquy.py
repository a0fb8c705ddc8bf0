"""Colloquy's own JSON Lines: each session is a first line, a line for each row, and a last line.

Everything is checked here, where it can be killed: a session that is not whole, or whose views do
not fit together, is not taken.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from backend.conversations.paths import Path
from backend.conversations.state.delta import apply_deltas
from backend.conversations.state.shown import positions_in
from backend.domains.template import find_faults, template_of
from backend.errors.base import AppError
from backend.export.line_records import END, HEAD, KINDS, LONGEST_LINE, VERSION, SessionLine
from backend.imports.json_stream import Unreadable, parse
from backend.imports.model import Skipped, StoredConversation
from backend.imports.upload import Upload
from backend.types import JSON
from colloquy_kit.messages.kinds import ContentType
from colloquy_kit.messages.state import check_state

NAME = "colloquy"
LABEL = "Colloquy"
MOST_RECORDS = 1_000_000
_BEGINS = f'{{"{HEAD}":'.encode()
_OPEN = ("pending", "executing")
# The keys that a content of each kind needs, so that pages can show it.
_TEXTS = {
    ContentType.TEXT: ("text",),
    ContentType.THINKING: ("text",),
    ContentType.NOTICE: ("text",),
    ContentType.ERROR: ("title", "detail"),
    ContentType.TOOL_CALL: ("name",),
    ContentType.TOOL_RESULT: ("content",),
}


class Misfit(Exception):
    """Why a session cannot be taken, in a sentence."""


def looks_like(upload: Upload) -> bool:
    """Return whether a file begins as the first line of a session."""
    return any(upload.head(entry.name, 64).startswith(_BEGINS) for entry in upload.entries[:20])


def read(upload: Upload) -> Iterator[StoredConversation | Skipped]:
    """Yield the sessions of each file of this form."""
    for entry in upload.entries:
        if not upload.head(entry.name, 64).startswith(_BEGINS):
            continue
        gathered: _Gathered | None = None
        for number, line in enumerate(upload.lines(entry.name, LONGEST_LINE), 1):
            value = parse(line) if line is not None else Unreadable("")
            if isinstance(value, dict) and HEAD in value:
                if gathered is not None:
                    yield gathered.skipped("The file has only its beginning.")
                gathered = _Gathered(value, f"{entry.base}, line {number}")
            elif gathered is None:
                yield Skipped(f"{entry.base}, line {number}", "", "It belongs to no session.")
            elif gathered.add(line, value):
                yield gathered.result()
                gathered = None
        if gathered is not None:
            yield gathered.skipped("The file ends before this session does.")


class _Gathered:
    """The lines of one session, as far as they were read."""

    def __init__(self, first: JSON, where: str) -> None:
        self._where, self._fault = where, ""
        self._records: dict[str, list[Any]] = {name: [] for name in KINDS}
        self._digest = hashlib.sha256()
        self._count = 0
        session = first.get("session")
        self._title = str(session.get("title", ""))[:200] if isinstance(session, dict) else ""
        left_out = first.get("left_out")
        self._notes = (
            [str(one)[:300] for one in left_out[:20]] if isinstance(left_out, list) else []
        )
        try:
            if first[HEAD] != VERSION:
                raise Misfit(
                    f"It is of version {str(first[HEAD])[:20]}; this Colloquy reads {VERSION}."
                )
            self._head = SessionLine.model_validate(session)
        except (Misfit, ValidationError) as error:
            self._fail(error, "its first line")

    def add(self, line: bytes | None, value: Any) -> bool:
        """Add a line; return whether it was the last one."""
        self._digest.update(line or b"")
        if not isinstance(value, dict) or len(value) != 1:
            self._fail(Misfit("A line of it is unreadable or too long."))
            return False
        ((name, record),) = value.items()
        if name == END:
            held = {name: len(rows) for name, rows in self._records.items() if rows}
            if record != held and not self._fault:
                self._fail(Misfit("Lines of it are missing."))
            return True
        self._count += 1
        if name not in KINDS:
            self._fail(Misfit(f"It has a line of an unknown kind ({str(name)[:40]})."))
        elif self._count > MOST_RECORDS:
            self._fail(Misfit(f"It has more than {MOST_RECORDS:,} lines."))
        elif not self._fault:
            try:
                self._records[name].append(KINDS[name].model.model_validate(record))
            except ValidationError as error:
                self._fail(error, f"a line “{name}”")
        return False

    def result(self) -> StoredConversation | Skipped:
        """Return the session, checked as a whole."""
        if self._fault:
            return self.skipped(self._fault)
        try:
            check(self._head, self._records)
        except Misfit as misfit:
            return self.skipped(str(misfit))
        self._digest.update(self._head.model_dump_json().encode())
        return StoredConversation(
            source=NAME,
            source_id=str(self._head.id),
            title=self._title,
            head=self._head,
            records=self._records,
            digest=self._digest.hexdigest(),
            notes=self._notes,
        )

    def skipped(self, reason: str) -> Skipped:
        return Skipped(self._where, self._title, reason)

    def _fail(self, error: Exception, where: str = "") -> None:
        if self._fault:
            return
        self._records = {name: [] for name in KINDS}  # they are not needed any more
        if isinstance(error, ValidationError):
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"]))[:100]
            self._fault = f"In {where}, {place} is not as Colloquy writes it."
        else:
            self._fault = str(error)


def check(head: SessionLine, records: dict[str, list[Any]]) -> None:
    """Raise Misfit unless the records make a session whose two views fit together."""
    messages, deltas = records["message"], records["delta"]
    if [row.position for row in messages] != list(range(1, len(messages) + 1)):
        raise Misfit("Its messages are not numbered 1, 2, 3 …")
    if [row.version for row in deltas] != list(range(1, len(deltas) + 1)):
        raise Misfit("The versions of its agent state have gaps.")
    _check_turns(records)
    for path in (head.path, *(branch.path for branch in records["branch"])):
        _check_path(path, len(messages))
    if any(not 0 <= branch.state_version <= len(deltas) for branch in records["branch"]):
        raise Misfit("A branch of it names a version of the state that is not there.")
    _check_state(records, len(messages))
    _check_image(head)
    _check_contents(records)


def _check_turns(records: dict[str, list[Any]]) -> None:
    messages, turns, deltas = records["message"], records["turn"], records["delta"]
    ids = {turn.id for turn in turns}
    for row in messages:
        if row.status in _OPEN or (row.turn_id is not None and row.turn_id not in ids):
            raise Misfit(f"Its message {row.position} belongs to a turn that is not there.")
        texts = _TEXTS.get(row.content_type, ())
        if not all(isinstance(row.content.get(name), str) for name in texts):
            raise Misfit(f"Its message {row.position} has no text.")
    for turn in turns:
        if turn.fork_of is not None and turn.fork_of not in ids:
            raise Misfit("A turn of it is a version of one that is not there.")
        if turn.message_position is not None and not 1 <= turn.message_position <= len(messages):
            raise Misfit("A turn of it names a message that is not there.")
        if (turn.state_version or 0) + turn.steps > len(deltas):
            raise Misfit("A turn of it names a version of the state that is not there.")
        if not _is_usage(turn.usage):
            raise Misfit("The usage of a turn of it is not what Colloquy counts.")


def _check_path(path: Any, count: int) -> None:
    last = 0
    for place, (first, end) in enumerate(path or ()):
        is_open = end is None and place == len(path) - 1
        if first <= last or (end is None and not is_open) or (end is not None and end < first - 1):
            raise Misfit("A branch of it has no proper path.")
        last = count if end is None else end
        if first > count + 1 or last > count:
            raise Misfit("A branch of it shows messages that are not there.")
    if path is not None:
        Path.read(path)


def _check_state(records: dict[str, list[Any]], count: int) -> None:
    if len(records["state"]) != 1:
        raise Misfit("It has no agent state.")
    snapshot = records["state"][0]
    newer = [row.delta for row in records["delta"] if row.version > snapshot.version]
    try:
        if not 0 <= snapshot.version <= len(records["delta"]):
            raise Misfit("Its agent state is of a version that is not there.")
        state = apply_deltas(snapshot.state_data, newer)
        check_state(_without_references(state))
        for delta in (row.delta for row in records["delta"]):
            apply_deltas({"messages": []}, [delta])
        if any(not 1 <= place <= count for place in positions_in(state["messages"])):
            raise Misfit("Its agent state refers to messages that are not there.")
    except (AppError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise Misfit("Its agent state cannot be read.") from error


def _without_references(state: JSON) -> JSON:
    """Return the state with a text in place of each reference to a message."""

    def plain(message: JSON) -> JSON:
        content = message.get("content")
        return {**message, "content": ""} if isinstance(content, dict) else message

    return {**state, "messages": [plain(message) for message in state["messages"]]}


def _check_image(head: SessionLine) -> None:
    try:
        if find_faults(template_of(head.image)):
            raise Misfit("Its configuration contradicts itself.")
    except (ValidationError, AppError) as error:
        raise Misfit("Its configuration cannot be read.") from error


def _check_contents(records: dict[str, list[Any]]) -> None:
    versions: dict[Any, list[int]] = {artifact.id: [] for artifact in records["artifact"]}
    for row in records["artifact_version"]:
        if row.artifact_id not in versions:
            raise Misfit("A version of an artifact of it belongs to none.")
        versions[row.artifact_id].append(row.version)
    for artifact in records["artifact"]:
        held = sorted(versions[artifact.id])
        if held != list(range(1, len(held) + 1)) or artifact.version != len(held):
            raise Misfit("The versions of an artifact of it are not 1, 2, 3 …")


def _is_usage(usage: Any) -> bool:
    """Return whether nothing in a usage is negative, at any depth."""
    todo = [usage]
    while todo:
        value = todo.pop()
        if isinstance(value, dict | list):
            todo += value.values() if isinstance(value, dict) else value
        elif isinstance(value, int | float) and value < 0:
            return False
    return True
