"""Stores a session that Colloquy exported, exactly: ids where they are free, otherwise new ones.

It becomes the session of whoever imports it. Its configuration comes with it only for who manages
domains, because it may name programs and secrets; others get that of a domain of this installation.
"""

import base64
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from uuid import UUID, uuid5

import orjson
from sqlalchemy import Table, bindparam, func, insert, null, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from backend.artifacts.contents import Contents
from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.removal import CONTINUES
from backend.conversations.service import Image
from backend.data.files.formats import Format, find_format
from backend.errors.base import AppError
from backend.export.line_records import KINDS, SessionLine
from backend.files import rows as file_rows
from backend.files.store import FileStore
from backend.imports.model import StoredConversation
from backend.imports.writer import Outcome, Written, find_known, lock_owner, note_origin
from backend.schemas.data.files import FileCorrections, FileKind, IfExists
from backend.schemas.people.rights import Permission
from backend.types import JSON
from colloquy_kit.messages.display import notice
from colloquy_kit.messages.kinds import ContentType
from db.models.conversations.conversation import ConversationRow
from db.models.domains.domain import DomainRow

OTHER_CONFIGURATION = (
    "The configuration in the file was not taken, because only who manages domains may bring one"
    " in: this session has that of {}."
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMED = ("turn", "result", "artifact", "file")  # kinds whose ids are unique in an installation
_BATCH = 500
_OR_NULL = JSONB(none_as_null=True)
_KEPT = {
    "image_id", "version", "pinned", "archived", "model", "branch", "path", "metadata",
    "created_at", "updated_at",
}  # fmt: skip


class Restorer:
    """Restores sessions for a worker; `undo` after a failed transaction."""

    def __init__(
        self, store: FileStore, contents: Contents, megabytes: int, taken: Collection[str]
    ) -> None:
        self._store, self._contents = store, contents
        self._megabytes, self._taken = megabytes, taken
        self._kept: list[Any] = []
        self._files: list[UUID] = []

    def restore(
        self, session: Session, scope: Scope, image: Image, stored: StoredConversation
    ) -> Written:
        """Store the session as the caller's, unless they have it."""
        lock_owner(session, scope)
        if known := find_known(session, scope, stored):
            return known
        if _is_own(session, scope, stored.head.id):
            return Written(Outcome.KNOWN, stored.head.id, ["It is here already."])
        notes = list(stored.notes)
        head, records = _plain(stored)
        if _are_taken(session, head, records):
            head, records = _renamed(scope, head, records)
            notes.append("Its ids were taken: it has new ones.")
        _leave_out_foreign(head, records, scope, notes)
        session_id = UUID(head["id"])
        chosen = self._image(session, scope, image, head, notes)
        conversations.create(session, scope, chosen, head["title"], session_id)
        state = records["state"][0]
        views.bring_in(
            session,
            session_id,
            views.History(
                [
                    {**_typed("message", row), "conversation_id": session_id}
                    for row in records["message"]
                ],
                [_typed("result", row) for row in records["result"]],
                [_typed("delta", row) for row in records["delta"]],
                state["state_data"],
                state["version"],
            ),
        )
        own = {"owner_id": scope.user_id, "role": scope.role, "conversation_id": session_id}
        _insert(session, "turn", records["turn"], own)
        for name in ("sent", "branch", "artifact"):
            _insert(session, name, records[name], {"conversation_id": session_id})
        self._add_versions(session, records["artifact_version"], notes)
        self._add_files(session, scope, session_id, records["file"], notes)
        _set_columns(session, session_id, head)
        note_origin(session, scope, stored, session_id, stored.digest, len(records["message"]))
        return Written(Outcome.IMPORTED, session_id, notes)

    def undo(self) -> None:
        """Erase the contents of what was not stored after all."""
        for kept in self._kept:
            self._contents.drop(kept)
        for file_id in self._files:
            self._store.erase(file_id)

    def _image(
        self, session: Session, scope: Scope, image: Image, head: JSON, notes: list[str]
    ) -> Image:
        """Return the session's own configuration for who may bring one in, else the given one."""
        if not scope.has(Permission.MANAGE_DOMAINS):
            notes.append(OTHER_CONFIGURATION.format(image.domain_name))
            head |= {"image_id": None, "model": None}
            return image
        named = select(DomainRow.id).where(DomainRow.name == head["domain_name"])
        return Image(
            session.scalar(named), head["domain_name"], head["image"], head["domain_version"]
        )

    def _add_versions(self, session: Session, rows: list[JSON], notes: list[str]) -> None:
        for row in rows:
            content, values = row["content"], dict(row)
            values.pop("content")
            data = None if content is None else _decoded(content)
            with self._contents.folder() as folder:
                if data is not None:
                    place = folder / "content"
                    place.write_bytes(data)
                    kept = self._contents.keep(place)
                    self._kept.append(kept)
                    if (kept.hash, kept.size) != (row["hash"], row["size"]):
                        raise Unfit(f"The content of the artifact {row['title'][:100]} is damaged.")
                    stored: JSON = {"content": kept.content, "key": kept.key}
                else:
                    notes.append(f"The content of the artifact {row['title'][:100]} is missing.")
                    stored = {"content": None, "key": None}
            table = KINDS["artifact_version"].rows
            session.execute(insert(table).values(**_typed("artifact_version", values), **stored))

    def _add_files(
        self, session: Session, scope: Scope, session_id: UUID, rows: list[JSON], notes: list[str]
    ) -> None:
        for row in rows:
            try:
                if row["content"] is None:
                    raise Unfit("its content is missing.")
                self._add_file(session, scope, session_id, row, _decoded(row["content"]))
            except AppError as error:
                notes.append(f"The file {row['name'][:100]} was left out: {error.detail}")

    def _add_file(
        self, session: Session, scope: Scope, session_id: UUID, row: JSON, content: bytes
    ) -> None:
        incoming = self._store.begin()
        try:
            incoming.write(content)
            found = find_format(incoming.head, row["name"])
            if not isinstance(found, Format) or incoming.sha256 != row["sha256"]:
                raise Unfit("its content is damaged.")
            is_document = found in (Format.PDF, Format.DOCUMENT)
            kind = FileKind.DOCUMENT if is_document else FileKind.TABLE
            name, size = file_rows.clean_name(row["name"]), incoming.size
            new = file_rows.NewFile(name, size, row["sha256"], found, kind, session_id)
            file_id = UUID(row["id"])
            incoming.seal(file_id)
            self._files.append(file_id)
            with session.begin_nested():
                file_rows.add(
                    session,
                    scope,
                    file_id,
                    new,
                    most_megabytes=self._megabytes,
                    taken=self._taken,
                    if_exists=IfExists.ADD,
                )
                corrections = FileCorrections.read(row["corrections"])
                given = corrections.model_dump(mode="json", exclude_unset=True)
                table = KINDS["file"].rows
                session.execute(
                    update(table)
                    .where(table.c.id == file_id)
                    .values(created_at=_typed("file", row)["created_at"], corrections=given)
                )
            incoming.keep(file_id)
        finally:
            incoming.drop()


class Unfit(AppError):
    """It does not fit what its line says."""

    status = 422


def _plain(stored: StoredConversation) -> tuple[JSON, dict[str, list[JSON]]]:
    """Return the records as JSON."""
    records = {
        name: [row.model_dump(mode="json") for row in rows] for name, rows in stored.records.items()
    }
    return stored.head.model_dump(mode="json"), records


def _is_own(session: Session, scope: Scope, session_id: UUID) -> bool:
    row = ConversationRow
    owner = session.scalar(select(row.owner_id).where(row.id == session_id))
    return owner == scope.user_id


def _ids(head: JSON, records: Mapping[str, list[JSON]]) -> Iterator[tuple[Table, list[UUID]]]:
    conversation: Any = ConversationRow.__table__
    yield conversation, [UUID(head["id"])]
    for name in _NAMED:
        yield KINDS[name].rows, [UUID(row["id"]) for row in records[name]]


def _are_taken(session: Session, head: JSON, records: Mapping[str, list[JSON]]) -> bool:
    """Return whether anything here has one of the ids."""
    for table, ids in _ids(head, records):
        for first in range(0, len(ids), _BATCH):
            some = table.c.id.in_(ids[first : first + _BATCH])
            if session.scalar(select(table.c.id).where(some).limit(1)) is not None:
                return True
    return False


def _renamed(
    scope: Scope, head: JSON, records: dict[str, list[JSON]]
) -> tuple[JSON, dict[str, list[JSON]]]:
    """Return the records with a new id in place of each, wherever it is named."""
    old = {str(one) for _, ids in _ids(head, records) for one in ids}
    old |= {row["id"] for row in records["message"]}
    new = {one: str(uuid5(UUID(one), f"imported by {scope.user_id}")) for one in old}

    def rename(value: Any) -> Any:
        written = orjson.dumps(value).decode()
        return orjson.loads(_UUID.sub(lambda found: new.get(found[0], found[0]), written))

    renamed = {name: [rename(row) for row in rows] for name, rows in records.items()}
    return {**rename({**head, "image": None}), "image": head["image"]}, renamed


def _leave_out_foreign(
    head: JSON, records: Mapping[str, list[JSON]], scope: Scope, notes: list[str]
) -> None:
    """Leave out what would refer to, or speak for, somebody or something of this installation."""
    if head["metadata"].pop(CONTINUES, None):
        notes.append("What it continued is not noted any more.")
    artifacts = {row["id"] for row in records["artifact"]}
    gone = 0
    for row in records["message"]:
        author = row["metadata"].get("author")
        if isinstance(author, dict) and author.get("id") != scope.user_id:
            row["metadata"]["author"] = {"id": "", "name": str(author.get("name", ""))[:200]}
        if (
            row["content_type"] == ContentType.ARTIFACT
            and row["content"].get("artifact_id") not in artifacts
        ):
            said = notice("An artifact that was shown here is not in the file.")
            row |= {"content_type": said.content_type, "content": said.content}
            gone += 1
    if gone:
        notes.append(f"{gone:,} artifacts that it shows are not in the file.")


def _typed(name: str, row: JSON) -> JSON:
    """Return a row of JSON with the types of its columns."""
    kind = KINDS[name]
    parsed = kind.model.model_validate({**row, "content": None} if kind.content else row)
    return {one: value for one, value in parsed.model_dump().items() if one in kind.columns}


def _insert(session: Session, name: str, rows: list[JSON], own: JSON) -> None:
    table = KINDS[name].rows
    own = {column: value for column, value in own.items() if column in table.c}
    # None is NULL there, not JSON's null.
    empty = [c.name for c in table.c if isinstance(c.type, JSONB) and c.nullable]
    nulls = {one: bindparam(one, type_=_OR_NULL) for one in empty if one in KINDS[name].columns}
    for first in range(0, len(rows), _BATCH):
        some = [{**_typed(name, row), **own} for row in rows[first : first + _BATCH]]
        session.execute(insert(table).values(nulls) if nulls else insert(table), some)


def _set_columns(session: Session, session_id: UUID, head: JSON) -> None:
    """Set the columns of the conversation that were not set when it was created."""
    parsed = SessionLine.model_validate({**head, "image_id": head["image_id"] or session_id})
    values = parsed.model_dump(include=_KEPT)
    if head["image_id"] is None:
        values.pop("image_id")
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == session_id)
        .values(
            {("metadata_" if name == "metadata" else name): one for name, one in values.items()}
            | {"last_accessed_at": func.clock_timestamp()}
            | ({"path": null()} if values["path"] is None else {})
        )
        .execution_options(synchronize_session=False)
    )


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except ValueError as error:
        raise Unfit("its content is damaged.") from error
