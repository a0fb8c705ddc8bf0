"""The rows of uploaded files.

A file is its owner's, and whoever's who was granted it; those of a session may be queried by who
may continue it, and managed by whose it is.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    DateTime,
    Select,
    Uuid,
    bindparam,
    cast,
    delete,
    exists,
    func,
    or_,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.orm import Session, aliased, defer

from backend.auth.reach import OWN, granted
from backend.auth.scope import Scope
from backend.conversations.service import visible_to
from backend.cursor import decode_time_and_id, encode_cursor
from backend.data.files.documents import PAGES
from backend.data.files.folder import unique_name
from backend.data.files.uploads import DOCUMENT
from backend.errors.base import InvalidInput
from backend.errors.files import FileExists, FileNotFound, NoRoomForFiles
from backend.schemas.data.files import LONGEST_FILE_NAME, IfExists
from backend.schemas.people.rights import Resource, Right
from backend.text import is_visible, moment
from backend.types import JSON
from colloquy_kit.messages.clean import clean_text
from db.models.conversations.conversation import ConversationRow
from db.models.file import FileRow
from db.models.people.grant import GrantRow
from db.models.turns.turn import TurnRow

SessionId = UUID | BindParameter[UUID]

MEGABYTE = 1_000_000
MOST_FILES = 500  # per person
_SUFFIX = re.compile(r"(?:\.csv)?\.[A-Za-z0-9]{1,8}$")
# The columns that a copy in another session keeps: all but its id, owner, session and time.
_KEPT = (
    "name",
    "source",
    "size",
    "sha256",
    "format",
    "kind",
    "understood",
    "corrections",
)
_ALONE = text("SELECT pg_advisory_xact_lock(hashtextextended('colloquy files ' || :owner, 0))")


class Usable(NamedTuple):
    """A file that a session's agents may query; `problem` says why it cannot be read, if so."""

    file: FileRow
    problem: str
    is_newer: bool  # than the session's first turn


@dataclass(frozen=True)
class NewFile:
    """What is known of a file once its bytes have arrived."""

    name: str
    size: int
    sha256: str
    format: str
    kind: str
    conversation_id: UUID | None = None


def clean_name(name: str) -> str:
    """Return a file's name on one line. Raise InvalidInput if it is invisible or too long."""
    plain = unicodedata.normalize("NFC", clean_text(name))
    line = " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in plain).split())
    if not is_visible(line):
        raise InvalidInput("A file needs a visible name.")
    if len(line) > LONGEST_FILE_NAME:
        raise InvalidInput(f"A file's name may have at most {LONGEST_FILE_NAME} characters.")
    return line


def check_room(
    session: Session, scope: Scope, size: int, most_megabytes: int, more: int = 1
) -> None:
    """Raise NoRoomForFiles if so many files of this size would exceed a person's limits."""
    count, held = session.execute(
        select(func.count(), func.coalesce(func.sum(FileRow.size), 0)).where(_of(scope))
    ).one()
    if more and count + more > MOST_FILES:
        raise NoRoomForFiles(
            f"You would have {count + more:,} files, but one person may have {MOST_FILES:,}. "
            "Delete some on the page Data."
        )
    if size and held + size > most_megabytes * MEGABYTE:
        raise NoRoomForFiles(
            f"Your files would have {(held + size) / MEGABYTE:,.0f} MB in total, but one person "
            f"may have {most_megabytes:,} MB (MAX_FILES_MB). Delete some on the page Data."
        )


def add(
    session: Session,
    scope: Scope,
    file_id: UUID,
    new: NewFile,
    *,
    most_megabytes: int,
    taken: Collection[str],
    if_exists: IfExists,
) -> UUID | None:
    """Add a file; return the id of the one that it replaces, if any, which is deleted.

    Its query name is that of the replaced file, else one that is free among its neighbours and not
    in `taken`. Raise NoRoomForFiles, FileExists.
    """
    session.execute(_ALONE, {"owner": scope.user_id})
    before = _of_same_name(session, scope, new)
    if before is not None and if_exists is IfExists.REFUSE:
        raise FileExists(
            f"You already have a file “{new.name}” {_where(before)}, uploaded on"
            f" {moment(before.created_at)}. Replace it, or keep both."
        )
    if if_exists is not IfExists.REPLACE:
        before = None
    elif before is not None and not _manages(session, scope, before.id):
        raise FileExists(
            f"Somebody else uploaded the file “{before.name}” of this session. Keep both."
        )
    made = FileRow(id=file_id, owner_id=scope.user_id, **vars(new))
    if before is not None:
        made.source, made.replaced_upload_of = before.source, before.created_at
        session.delete(before)
        session.flush()
    else:
        made.source = _source_name(session, scope, new, taken)
    check_room(session, scope, new.size, most_megabytes)
    session.add(made)
    session.flush()
    return before.id if before else None


def find_copied(
    session: Session, scope: Scope, from_id: UUID, most_megabytes: int
) -> Sequence[FileRow]:
    """Return the files that a copy of a session has. Raise NoRoomForFiles."""
    found = session.scalars(
        select(FileRow).where(FileRow.conversation_id == from_id, _reached_by(scope, Right.QUERY))
    ).all()
    check_room(session, scope, sum(row.size for row in found), most_megabytes, len(found))
    return found


def add_copies(
    session: Session,
    scope: Scope,
    from_id: UUID,
    to_id: UUID,
    most_megabytes: int,
    new_ids: Mapping[UUID, UUID],
) -> None:
    """Copy a session's files to another, with how they were read, under these new ids.

    Raise NoRoomForFiles.
    """
    session.execute(_ALONE, {"owner": scope.user_id})
    for row in find_copied(session, scope, from_id, most_megabytes):
        kept = {name: getattr(row, name) for name in _KEPT}
        own = {"owner_id": scope.user_id, "conversation_id": to_id}
        session.add(FileRow(id=new_ids[row.id], **own, **kept))
    session.flush()


def find(session: Session, scope: Scope, file_id: UUID, right: Right = Right.QUERY) -> FileRow:
    """Return one file. Raise FileNotFound, also if the caller does not have the right on it."""
    reached = _reached_by(scope, right)
    row = session.scalar(select(FileRow).where(FileRow.id == file_id, reached))
    if row is None:
        raise FileNotFound
    return row


def list_page(
    session: Session, scope: Scope, session_id: UUID | None, *, cursor: str | None, limit: int
) -> tuple[Sequence[FileRow], str | None]:
    """Return a keyset page of files, newest first: all, or those that a session can use."""
    of_whom = _held_by(scope) if session_id is None else _usable_in(scope, session_id)
    query = select(FileRow).where(of_whom, ~_leaves()).limit(limit + 1)
    query = query.order_by(FileRow.created_at.desc(), FileRow.id.desc())
    if cursor:
        place = tuple_(FileRow.created_at, FileRow.id)
        query = query.where(place < decode_time_and_id(cursor, "files"))
    rows = session.scalars(query).all()
    last = rows[limit - 1] if len(rows) > limit else None
    return rows[:limit], encode_cursor("files", last.created_at, last.id) if last else None


def list_usable(session: Session, scope: Scope, session_id: UUID) -> list[Usable]:
    """Return the files a session's agents may query for the caller, who may continue it."""
    is_newer = FileRow.created_at > _beginning_of(session_id)
    query = (
        select(FileRow, func.coalesce(FileRow.understood["error"].astext, ""), is_newer)
        .options(defer(FileRow.understood))
        .where(_usable_in(scope, session_id))
        .order_by(FileRow.created_at.desc(), FileRow.id.desc())
        .limit(MOST_FILES)
    )
    return [Usable(*found) for found in session.execute(query)]


def has_documents(session: Session, scope: Scope, session_id: UUID) -> bool:
    """Return whether any file that a session's agents may query is a document."""
    return bool(session.scalar(_finds_documents(scope), {"session": session_id}))


@lru_cache(1_000)  # building it takes longer than running it
def _finds_documents(scope: Scope) -> Select[Any]:
    """Select whether a document is usable in the session `session`."""
    is_one = _usable_in(scope, bindparam("session", type_=Uuid())) & (FileRow.kind == DOCUMENT)
    return select(exists().where(is_one))


def save_reading(
    session: Session, file_id: UUID, corrections: JSON, understood: JSON, kind: str
) -> bool:
    """Store how a file was read with these corrections, unless they have changed since.

    Return whether the file still exists.
    """
    row = session.get(FileRow, file_id, with_for_update=True)
    if row is not None and row.corrections == corrections:
        row.understood, row.kind = understood, kind
    return row is not None


def correct(session: Session, scope: Scope, file_id: UUID, values: JSON) -> None:
    """Store corrections and how the file is read with them. Raise FileNotFound."""
    changed = session.execute(
        update(FileRow)
        .where(FileRow.id == file_id, _reached_by(scope, Right.MANAGE))
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    if not changed.rowcount:  # type: ignore[attr-defined]  # the result of an UPDATE has it
        raise FileNotFound


def remove(session: Session, scope: Scope, file_id: UUID) -> None:
    """Delete a file. Raise FileNotFound."""
    gone = session.scalar(
        delete(FileRow)
        .where(FileRow.id == file_id, _reached_by(scope, Right.MANAGE))
        .returning(FileRow.id)
        .execution_options(synchronize_session=False)
    )
    if gone is None:
        raise FileNotFound
    of_file = (GrantRow.resource_type == Resource.FILE) & (GrantRow.resource_id == str(file_id))
    session.execute(delete(GrantRow).where(of_file))


def new_id() -> UUID:
    """Return the id of a new file."""
    return uuid4()


def _of(scope: Scope) -> ColumnElement[bool]:
    """Match the caller's own files only, whatever their role."""
    return FileRow.owner_id == scope.user_id


def _held_by(scope: Scope, right: Right = Right.QUERY) -> ColumnElement[bool]:
    """Match the files that are the caller's, or that they were granted."""
    return _of(scope) | FileRow.id.in_(granted(scope, Resource.FILE, right))


def _reached_by(scope: Scope, right: Right) -> ColumnElement[bool]:
    """Match the files on which the caller has a right, also by the session that has them."""
    of_session = visible_to(scope, OWN if right is Right.MANAGE else Right.CONTINUE)
    in_session = exists().where(ConversationRow.id == FileRow.conversation_id, of_session)
    return _held_by(scope, right) | in_session


def _manages(session: Session, scope: Scope, file_id: UUID) -> bool:
    managed = exists().where(FileRow.id == file_id, _reached_by(scope, Right.MANAGE))
    return bool(session.scalar(select(managed)))


def _leaves() -> ColumnElement[bool]:
    """Match the files of sessions that are about to be deleted."""
    row = ConversationRow
    return exists().where(row.id == FileRow.conversation_id, row.deletes_at.is_not(None))


def _usable_in(scope: Scope, session_id: SessionId) -> ColumnElement[bool]:
    """Select the files that a session's agents may query for the caller.

    They are its own, those of the session whose task it runs, and the caller's for all sessions. Of
    these a name is always the same file in one session: none if the session has a file of that name
    itself, else the newest that was there at its first turn, else the oldest. So a later upload of
    a name answers only sessions begun since.
    """
    other, began = aliased(FileRow), _beginning_of(session_id)
    is_of_all, is_older = other.conversation_id.is_(None), other.created_at < FileRow.created_at
    comes_first = or_(
        _is_own(other, session_id),
        is_of_all & (FileRow.created_at > began) & is_older,
        is_of_all & (FileRow.created_at <= began) & ~is_older & (other.created_at <= began),
    )
    is_hidden = exists().where(
        (other.owner_id == FileRow.owner_id) | _is_own(other, session_id),
        func.lower(other.name) == func.lower(FileRow.name),
        other.id != FileRow.id,
        comes_first,
    )
    of_all = FileRow.conversation_id.is_(None) & _held_by(scope) & ~is_hidden
    return or_(_is_own(FileRow, session_id), of_all)


def _is_own(file: type[FileRow], session_id: SessionId) -> ColumnElement[bool]:
    """Match the files of a session, and of the one whose task it runs."""
    parent = select(ConversationRow.parent_id).where(ConversationRow.id == session_id)
    of = file.conversation_id
    return or_(of == session_id, of == parent.scalar_subquery())


def _beginning_of(session_id: SessionId) -> ColumnElement[datetime]:
    """Return when a session's first turn came, for a task's session that of the session it serves.

    Infinity before the first turn.
    """
    row = ConversationRow
    place = select(func.coalesce(row.parent_id, row.id)).where(row.id == session_id)
    of_session = TurnRow.conversation_id == place.scalar_subquery()
    first = select(TurnRow.created_at).where(of_session).order_by(TurnRow.number).limit(1)
    never = cast("infinity", DateTime(timezone=True))
    return func.coalesce(first.scalar_subquery(), never)


def _of_same_name(session: Session, scope: Scope, new: NewFile) -> FileRow | None:
    """Return the newest file of this name in the place of a new one: a session, or all."""
    of = FileRow.conversation_id
    place = new.conversation_id
    is_there = _of(scope) & of.is_(None) if place is None else of == place
    is_named_so = func.lower(FileRow.name) == func.lower(new.name)
    query = select(FileRow).where(is_named_so, is_there)
    return session.scalar(query.order_by(FileRow.created_at.desc()).limit(1))


def _where(file: FileRow) -> str:
    return "in this session" if file.conversation_id else "for all sessions"


def _source_name(session: Session, scope: Scope, new: NewFile, taken: Collection[str]) -> str:
    """Return a query name that is free wherever the file can be queried."""
    is_near = _of(scope)
    if (place := new.conversation_id) is not None:
        is_near = or_(_is_own(FileRow, place), _of(scope) & FileRow.conversation_id.is_(None))
    query = select(FileRow.source).where(is_near)
    stem = _SUFFIX.sub("", re.split(r"[/\\]", new.name)[-1])
    return unique_name(stem, {*taken, *session.scalars(query), PAGES})
