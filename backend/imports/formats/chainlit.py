"""Chainlit's threads, from its tables: as JSON, or in a file of SQLite.

Both data layers are read, the official one (`Thread`, `Step`, `Element`) and SQLAlchemy's
(`threads`, `steps`, `elements`); the shapes are in docs/imports.md.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from backend.imports.builder import Builder
from backend.imports.errors import ImportRefused
from backend.imports.formats.chainlit_sqlite import SQLITE, Tables, sqlite_tables
from backend.imports.model import (
    Attachment,
    Call,
    ImportedConversation,
    Part,
    Result,
    Role,
    Skipped,
    Text,
)
from backend.imports.upload import Entry, Upload
from backend.imports.values import (
    Notes,
    arguments,
    digest,
    entries_of,
    first_text,
    has_some,
    identifier,
    moment,
    name,
    objects,
    objects_of,
    text,
    written,
)
from backend.types import JSON

NAME = "chainlit"
LABEL = "Chainlit"
_TABLES = {
    "thread": "threads",
    "threads": "threads",
    "step": "steps",
    "steps": "steps",
    "element": "elements",
    "elements": "elements",
}
_ROLES: dict[str, Role] = {
    "user_message": "user",
    "assistant_message": "assistant",
    "system_message": "system",
}
_CALLS = ("tool", "retrieval", "rerank", "embedding")


def looks_like(upload: Upload) -> bool:
    """Return whether a file has threads with steps, or a table of them."""
    if any(_is_database(upload, entry) for entry in upload.entries[:20]):
        return True
    return has_some(upload, _begins)


def read(upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield the threads of all files."""
    for entry in upload.entries[:20]:
        if _is_database(upload, entry):
            try:
                yield from _joined(sqlite_tables(upload, entry), upload)
            except ImportRefused as error:
                yield Skipped(entry.base, "", str(error))
    tables: Tables = {"threads": [], "steps": [], "elements": []}
    for entry in entries_of(upload, _begins):
        table = _TABLES.get(entry.base.lower().removesuffix(".json"))
        for item in objects_of(upload, entry):
            if isinstance(item, Skipped):
                yield item
            elif not _take(tables, table, item):
                steps, elements = objects(item.get("steps")), objects(item.get("elements"))
                yield _thread(item, steps, elements, upload)
    yield from _joined(tables, upload)


def _take(tables: Tables, table: str | None, item: JSON) -> bool:
    """Take a row of a table, or all tables from one object; return whether it is either."""
    if table is not None and "steps" not in item:
        tables[table].append(item)
        return True
    if "threads" not in item and "Thread" not in item:
        return False
    for key, rows in item.items():
        tables.get(_TABLES.get(key.lower(), ""), []).extend(objects(rows))
    return True


def _is_database(upload: Upload, entry: Entry) -> bool:
    head = upload.head(entry.name)  # the definitions of tables stand at the beginning, if at all
    is_other = b"CREATE TABLE" in head and not any(one in head for one in (b"threads", b"Thread"))
    return head.startswith(SQLITE) and not is_other


def _begins(entry: Entry, head: bytes) -> bool:
    if b'"steps"' in head and (b'"threadId"' in head or b'"userIdentifier"' in head):
        return True
    if b'"Step"' in head and b'"threadId"' in head:
        return True
    is_table = entry.base.lower().removesuffix(".json") in _TABLES
    return is_table and any(
        key in head for key in (b'"threadId"', b'"userIdentifier"', b'"userId"')
    )


def _joined(tables: Tables, upload: Upload) -> Iterator[ImportedConversation | Skipped]:
    """Yield the threads of three tables."""
    steps: defaultdict[str | None, list[JSON]] = defaultdict(list)
    elements: defaultdict[str | None, list[JSON]] = defaultdict(list)
    for step in tables["steps"]:
        steps[identifier(step.get("threadId"))].append(step)
    for element in tables["elements"]:
        elements[identifier(element.get("threadId"))].append(element)
    for thread in tables["threads"]:
        key = identifier(thread.get("id"))
        yield _thread(thread, steps.pop(key, []), elements.pop(key, []), upload)
    for key, found in steps.items():
        if key is None:
            upload.notes.append(f"{len(found):,} steps belong to no thread, and were left out.")
        else:  # its row was deleted, or not exported
            yield _thread({"id": key}, found, elements.pop(key, []), upload)


def _thread(
    thread: JSON, steps: list[JSON], elements: list[JSON], upload: Upload
) -> ImportedConversation | Skipped:
    source_id = identifier(thread.get("id")) or digest(thread)
    title = name(thread.get("name"))
    if thread.get("deletedAt"):
        return Skipped(source_id, title, "It was deleted there.")
    notes = Notes()
    if "id" in thread and len(thread) == 1:
        notes.say("Its row in the table of threads is missing, so that it has no title.")
    files: defaultdict[str | None, list[JSON]] = defaultdict(list)
    for element in elements:
        files[identifier(element.get("forId") or element.get("stepId"))].append(element)
    builder = Builder(notes)
    last: str | None = None
    for number, step in enumerate(_ordered(steps)):
        key = identifier(step.get("id")) or f"step-{number}"
        parts = _parts(step, notes)
        shown = [_file(one, upload) for one in files.pop(key, [])]
        role = _ROLES.get(text(step.get("type")), "assistant")
        if key not in builder:
            author = step.get("name") if role == "assistant" else None
            builder.add(key, last, role, [*parts, *shown], at=_time(step), author=author)
            last = key
    if files:
        notes.say("Files that belong to no step were left out.")
    messages, current = builder.finish(last)
    if not messages:
        return Skipped(source_id, title, "It has no messages.")
    return ImportedConversation(
        source=NAME,
        source_id=source_id,
        title=title,
        messages=messages,
        current=current,
        created_at=moment(thread.get("createdAt")) or messages[0].created_at,
        updated_at=moment(thread.get("updatedAt")),
        notes=notes.sentences(),
    )


def _time(step: JSON) -> Any:
    return next(
        (step[key] for key in ("createdAt", "startTime", "start") if step.get(key) is not None),
        None,
    )


def _ordered(steps: list[JSON]) -> list[JSON]:
    """Return the steps by their times; those without one stay after what they follow."""
    keys: list[float] = []
    for step in steps:
        at = moment(_time(step))
        keys.append(at.timestamp() if at else keys[-1] if keys else 0.0)
    return [steps[place] for place in sorted(range(len(steps)), key=keys.__getitem__)]


def _parts(step: JSON, notes: Notes) -> list[Part]:
    """Return what a step holds, by its type."""
    kind = text(step.get("type"))
    said, asked = written(step.get("output")), step.get("input")
    failed = step.get("isError") in (True, 1, "true")
    if kind in _ROLES:
        said = said or written(asked)
        return [Text(f"Error: {said}" if failed and said else said)]
    if kind in _CALLS:
        called = name(step.get("name")) or kind
        found = arguments(asked) if asked else {}
        call_id = identifier(step.get("id")) or ""
        parts: list[Part] = [Call(call_id, called, found)]
        finished = said or failed or step.get("end") or step.get("endTime")
        return [*parts, Result(call_id, called, said, is_error=failed)] if finished else parts
    if kind not in ("run", "llm", "undefined", ""):
        notes.say(f"A step is of the unknown kind {name(kind)!r}; its output was kept as text.")
        return [Text(said)]
    if said:
        notes.say(f"The output of a step of the kind {kind or 'undefined'!r} was left out.")
    return []


def _file(element: JSON, upload: Upload) -> Attachment:
    called = name(element.get("name")) or "file"
    media_type = name(first_text(element, "mime")) or "application/octet-stream"
    url = text(element.get("url"))
    if url.startswith("data:"):
        return Attachment(called, media_type, url)
    stored = text(element.get("objectKey"))
    for entry in upload.entries:
        if stored and (entry.name == stored or entry.name.endswith(f"/{stored}")):
            return Attachment(called, media_type, entry.name)
    return Attachment(called, media_type, None)
