"""The conversations of the older system: each row as it stands, and what its `session_id` names."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid5

from backend.legacy.errors import LegacyRefused
from backend.legacy.tables import ROW, Row, Table, table_names
from backend.legacy.values import read_text, read_time
from backend.text import plain_id

TABLE = "conversations"
_IDS = UUID("3f0c1f64-6f0e-4c0f-9d0e-6d1d1f5a7c11")  # of the ids that are made from rows


class Names(StrEnum):
    """What the `session_id` of a row names."""

    IMAGE = "image"
    SESSION = "session"
    AGENT = "agent"
    NOTHING = "nothing"
    OTHER = "something else"


PREFIXES = {"img_": Names.IMAGE, "sess_": Names.SESSION, "agent_": Names.AGENT}


@dataclass(frozen=True)
class LegacyRow:
    """A row. `session_id`: the conversation that it becomes, the same in each run.

    `is_lost`: it cannot be read; at most its id is known. `twin`: the number of an equal row.
    """

    number: int
    id: str
    domain_id: str = ""
    title: str = ""
    value: str = ""  # of its column session_id
    names: Names = Names.NOTHING
    created_at: datetime | None = None
    updated_at: datetime | None = None
    session_id: UUID | None = None
    is_lost: bool = False
    twin: int | None = None
    notes: list[str] = field(default_factory=list)


def read_rows(
    connection: sqlite3.Connection, now: datetime, notes: list[str]
) -> Iterator[LegacyRow]:
    """Yield all conversations, those that cannot be read last; `notes` gets what is not known.

    Raise LegacyRefused.
    """
    name = table_names(connection).get(TABLE)
    if name is None:
        raise LegacyRefused("The file has no table `conversations`, so it is of another system.")
    table = Table(connection, name)
    columns = {column.lower() for column in table.columns}
    if not {"id", "domain_id"} <= columns or not columns & {"session_id", "image_id"}:
        raise LegacyRefused(
            "The table `conversations` of this file lacks one of the columns id, domain_id and"
            f" session_id; it has {', '.join(table.columns)}."
        )
    seen: dict[str, int] = {}
    equal: Counter[str] = Counter()
    whole: dict[tuple[Any, ...], int] = {}
    for raw in table.rows():
        yield _read(raw, now, seen, equal, whole)
    for number in table.lost:
        text = read_text(table.id_of_lost(number))[0]
        yield LegacyRow(number, text, is_lost=True)
    if table.is_open_ended:
        notes.append(
            "Not all of the index can be read either: there may have been more conversations."
        )


def _read(
    raw: Row,
    now: datetime,
    seen: dict[str, int],
    equal: Counter[str],
    whole: dict[tuple[Any, ...], int],
) -> LegacyRow:
    given = {name.lower(): value for name, value in raw.items()}
    notes: list[str] = []
    texts = {}
    for name in ("id", "domain_id", "title"):
        texts[name], is_broken = read_text(given.get(name))
        if is_broken:
            notes.append(f"Its {name} has bytes that are no UTF-8; they show as �.")
    value, names = _named(given, notes)
    number = raw[ROW]
    twin = whole.setdefault(tuple(v for k, v in sorted(given.items()) if k != ROW), number)
    return LegacyRow(
        number=number,
        id=texts["id"],
        domain_id=texts["domain_id"].strip(),
        title=texts["title"],
        value=value,
        names=names,
        created_at=_time(given, "created_at", now, notes),
        updated_at=_time(given, "updated_at", now, notes),
        session_id=_own_id(given, equal),
        twin=twin if twin != number else None,
        notes=[*notes, *_alike(texts["id"], number, seen)],
    )


def _named(given: Row, notes: list[str]) -> tuple[str, Names]:
    value = given.get("image_id") or given.get("session_id")  # named anew, it is right already
    text = read_text(value)[0]
    if text != text.strip():
        notes.append("Blanks around its session_id were ignored.")
    text = text.strip()
    prefix = next((one for one in PREFIXES if text.lower().startswith(one)), None)
    if not text:
        return text, Names.NOTHING
    return text, PREFIXES[prefix] if prefix else Names.OTHER


def _time(given: Row, name: str, now: datetime, notes: list[str]) -> datetime | None:
    value = given.get(name)
    found = read_time(value, now)
    if found is None and value is not None:
        notes.append(f"Its {name} is no time: {read_text(value)[0][:40]!r}.")
    return found


def _own_id(given: Row, equal: Counter[str]) -> UUID:
    """Return the id of the conversation: by what never changes of a row, so that it is found again.

    Rows that are equal in that are told apart by their order.
    """
    key = repr([given.get("id"), given.get("domain_id"), given.get("created_at")])
    equal[key] += 1
    return uuid5(_IDS, f"{key} {equal[key]}")


def _alike(text: str, number: int, seen: dict[str, int]) -> Iterator[str]:
    first = seen.setdefault(plain_id(text), number)
    if first != number:
        yield f"Its id is that of row {first}, but for case and blanks."
