"""A session as JSON Lines, from which it can be imported again: both views, exactly as stored."""

import base64
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.artifacts.contents import Contents
from backend.auth.scope import Scope
from backend.conversations.service import listed_to, visible_to
from backend.errors.artifacts import ArtifactContentGone
from backend.errors.conversations import SessionNotFound
from backend.export.line_records import END, HEAD, KINDS, MOST_CONTENT, VERSION, Kind, SessionLine
from backend.files.store import FileStore
from backend.schemas.people.rights import Right
from backend.types import JSON
from db.models.artifacts.artifact import ArtifactRow
from db.models.conversations.conversation import ConversationRow
from db.models.planning.plan import PlanRow
from db.session import Database

IN_MEMORY = 4_000_000
MEDIA_TYPE = "application/jsonl"
_AT_ONCE = 500
_UNFINISHED = ("queued", "running", "waiting")
_OPEN = ("pending", "executing")
_STOPPED = "stopped"


def own_sessions(database: Database, scope: Scope, wanted: Sequence[UUID]) -> list[UUID]:
    """Return the sessions to export: those named, else all that are the caller's to continue.

    Raise SessionNotFound if one that was named is not there for the caller.
    """
    row = ConversationRow
    with database.read() as session:
        if not wanted:
            of_whom = listed_to(scope, right=Right.CONTINUE) & row.parent_id.is_(None)
            return list(
                session.scalars(select(row.id).where(of_whom).order_by(row.created_at, row.id))
            )
        found = set(session.scalars(select(row.id).where(row.id.in_(wanted), visible_to(scope))))
    if missing := [one for one in wanted if one not in found]:
        raise SessionNotFound(f"There is no session {missing[0]}.")
    return list(dict.fromkeys(wanted))


class LinesWriter:
    """Writes sessions for a caller; `store` and `contents` hold the bytes of what they have."""

    def __init__(
        self, database: Database, scope: Scope, store: FileStore, contents: Contents
    ) -> None:
        self._database, self._scope = database, scope
        self._store, self._contents = store, contents

    def spool(self, session_id: UUID) -> BinaryIO:
        """Return a file with the lines of a session, as of one moment. Raise SessionNotFound."""
        file: Any = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed by its reader
        with self._database.read_snapshot() as session:
            for line in self._lines(session, session_id):
                file.write(line)
        file.seek(0)
        spooled: BinaryIO = file
        return spooled

    def _lines(self, session: Session, session_id: UUID) -> Iterator[bytes]:
        row = ConversationRow
        found = session.scalar(select(row).where(row.id == session_id, visible_to(self._scope)))
        if found is None:
            raise SessionNotFound
        may_continue = visible_to(self._scope.without_reviews(), Right.CONTINUE)
        has_files = session.scalar(select(row.id).where(row.id == session_id, may_continue))
        left_out: list[str] = []
        if session.scalar(select(PlanRow.id).where(PlanRow.conversation_id == session_id).limit(1)):
            left_out.append("The sessions of its tasks are not in this file.")
        if has_files is None:
            left_out.append("Its files are not in this file: only who may continue it has them.")
        head = {
            name: found.metadata_ if name == "metadata" else getattr(found, name)
            for name in SessionLine.model_fields
        }
        yield _line({HEAD: VERSION, "session": head, "left_out": left_out})
        counts: dict[str, int] = {}
        for name, kind in KINDS.items():
            if name == "file" and has_files is None:
                continue
            for record in self._records(session, session_id, name, kind):
                counts[name] = counts.get(name, 0) + 1
                yield _line({name: record})
        yield _line({END: counts})

    def _records(self, session: Session, session_id: UUID, name: str, kind: Kind) -> Iterator[JSON]:
        table = kind.rows
        extra = [table.c[one] for one in ("key", "content") if kind.content and one in table.c]
        query = select(*(table.c[one] for one in kind.columns), *extra)
        if name == "artifact_version":
            of_session = select(ArtifactRow.id).where(ArtifactRow.conversation_id == session_id)
            query = query.where(table.c.artifact_id.in_(of_session))
        else:
            query = query.where(table.c.conversation_id == session_id)
        query = query.order_by(*(table.c[one] for one in kind.order))
        options = {"yield_per": _AT_ONCE if not kind.content else 1}
        for found in session.execute(query, execution_options=options):
            record = {one: found._mapping[one] for one in kind.columns}
            if record.get("status") in (_UNFINISHED if name == "turn" else _OPEN):
                record["status"] = _STOPPED
            if kind.content:
                record["content"] = self._content(found, name)
            yield record

    def _content(self, found: Any, name: str) -> str | None:
        """Return the bytes of a file or a version in Base64; None if too large, or gone."""
        if found.size > MOST_CONTENT:
            return None
        try:
            if name == "file":
                content = self._store.fetch(found.id).read_bytes()
            else:
                with self._contents.folder() as folder:
                    place = self._contents.local(found.content, found.key, Path(folder) / "content")
                    content = place.read_bytes()
        except (FileNotFoundError, ArtifactContentGone):
            return None
        return base64.b64encode(content).decode()


def _line(record: JSON) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
