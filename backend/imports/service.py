"""Imports as people see them: uploaded and inspected, started, cancelled, listed."""

from dataclasses import asdict
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, select, tuple_, update
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.scope import Scope
from backend.cursor import decode_time_and_id, encode_cursor
from backend.domains import service as domains
from backend.errors.base import InvalidInput
from backend.files.store import Incoming
from backend.imports.errors import ImportGone, ImportNotFound, ImportStarted, TooManyImports
from backend.imports.formats import colloquy
from backend.imports.place import ImportPlace
from backend.imports.reading import INSPECTING, Inspection, inspect
from backend.imports.writer import LONGEST_ID
from backend.sandbox.sandbox import Sandbox
from backend.schemas.imports import Import, ImportPage, ImportStart, ImportStatus
from colloquy_kit.messages.clean import clean, clean_text
from db.models.conversations.conversation import ConversationRow
from db.models.imports import ImportedConversationRow, ImportRow
from db.session import Database

SETTLED_SECONDS = 3_600
MOST_OPEN = 10  # of one person: uploads that take room
MAX_PAGE = 100
STARTABLE = (ImportStatus.INSPECTED, ImportStatus.CANCELLED, ImportStatus.FAILED)
SUBJECT = "import"  # in the audit trail
_CURSOR = "imports"
_IDS_AT_ONCE = 5_000


class Imports:
    """The imports of an installation, for one process."""

    def __init__(self, database: Database, place: ImportPlace, sandbox: Sandbox) -> None:
        self.place = place
        self._database = database
        self._sandbox = sandbox

    def check_room(self, scope: Scope) -> None:
        """Raise TooManyImports if the caller has too many uploads that were not imported."""
        with self._database.read() as session:
            row = ImportRow
            held = select(func.count()).where(
                row.owner_id == scope.user_id, row.status != ImportStatus.SUCCEEDED
            )
            if (session.scalar(held) or 0) >= MOST_OPEN:
                raise TooManyImports

    def take(self, scope: Scope, incoming: Incoming, name: str) -> Import:
        """Keep an upload that has arrived, inspect it, and return what was found.

        Raise ImportRefused or a SandboxError, and leave nothing behind.
        """
        import_id = uuid4()
        shown = " ".join(clean_text(name).split())[:200] or "upload"
        size = incoming.size
        try:
            if not size:
                raise InvalidInput("The file is empty.")
            incoming.seal(import_id)
            incoming.keep(import_id)
            path = self.place.upload(import_id)
            found = self._sandbox.run_blocking(
                inspect, path, shown, bounds=INSPECTING, key=scope.user_id
            )
            with self._database.transaction() as session:
                inspection = _as_json(found, _count_known(session, scope, found))
                session.add(
                    ImportRow(
                        id=import_id,
                        owner_id=scope.user_id,
                        name=shown,
                        size=size,
                        status=ImportStatus.INSPECTED,
                        inspection=inspection,
                    )
                )
        except BaseException:
            self.place.erase(import_id)
            raise
        finally:
            incoming.drop()
        return self.get(scope, import_id)

    def get(self, scope: Scope, import_id: UUID) -> Import:
        """Return one import of the caller. Raise ImportNotFound."""
        with self._database.read() as session:
            return _wire(_find(session, scope, import_id))

    def list_page(self, scope: Scope, *, cursor: str | None, limit: int) -> ImportPage:
        """Return one page of the caller's imports, newest first. Raise InvalidInput."""
        row, limit = ImportRow, max(1, min(limit, MAX_PAGE))
        query = select(row).where(row.owner_id == scope.user_id).limit(limit + 1)
        query = query.order_by(row.created_at.desc(), row.id.desc())
        if cursor:
            place = tuple_(row.created_at, row.id)
            query = query.where(place < decode_time_and_id(cursor, _CURSOR))
        with self._database.read() as session:
            rows = session.scalars(query).all()
        last = rows[limit - 1] if len(rows) > limit else None
        return ImportPage(
            items=[_wire(one) for one in rows[:limit]],
            next_cursor=encode_cursor(_CURSOR, last.created_at, last.id) if last else None,
        )

    def start(self, scope: Scope, import_id: UUID, wanted: ImportStart) -> Import:
        """Have a worker import what was inspected, from the beginning; known ones are passed over.

        Raise ImportNotFound, ImportStarted, ImportGone, DomainNotFound, DomainArchived.
        """
        with self._database.transaction() as session:
            row = _find(session, scope, import_id, lock=True)
            if row.status not in STARTABLE:
                raise ImportStarted
            if self.place.store.size(import_id) is None:
                raise ImportGone
            domain = domains.find(session, scope, wanted.domain)
            row.domain_id, row.allows = domain.id, scope.allows
            row.status, row.done, row.counts, row.report = ImportStatus.RUNNING, 0, {}, []
            row.error = row.finished_at = row.lease_until = None
            row.started_at = func.clock_timestamp()
            details = {"format": row.inspection["format"], "domain": domain.name}
            audit.record(session, scope.user_id, "started", SUBJECT, import_id, details)
        return self.get(scope, import_id)

    def cancel(self, scope: Scope, import_id: UUID) -> Import:
        """End an import; what it has stored stays. Ending one that has ended changes nothing.

        The upload of one that was not started is erased. Raise ImportNotFound.
        """
        with self._database.transaction() as session:
            row = _find(session, scope, import_id, lock=True)
            was = row.status
            if was in (ImportStatus.INSPECTED, ImportStatus.RUNNING):
                row.status, row.finished_at = ImportStatus.CANCELLED, func.clock_timestamp()
                row.attempt += 1  # the worker that has it finds that it has lost it
                audit.record(session, scope.user_id, "cancelled", SUBJECT, import_id)
        if was == ImportStatus.INSPECTED:
            self.place.erase(import_id)
        return self.get(scope, import_id)


def _find(session: Session, scope: Scope, import_id: UUID, *, lock: bool = False) -> ImportRow:
    row = ImportRow
    query = select(row).where(row.id == import_id, row.owner_id == scope.user_id)
    found = session.scalar(query.with_for_update() if lock else query)
    if found is None:
        raise ImportNotFound
    return found


def _count_known(session: Session, scope: Scope, found: Inspection) -> int:
    """Count what was imported before, and sessions of this installation that come back to it."""
    row, own = ImportedConversationRow, ConversationRow
    known: set[str] = set()
    ids = [one[:LONGEST_ID] for one in found.ids]
    for first in range(0, len(ids), _IDS_AT_ONCE):
        some = ids[first : first + _IDS_AT_ONCE]
        of_source = (row.owner_id == scope.user_id) & (row.source == found.format)
        known |= {*session.scalars(select(row.source_id).where(of_source, row.source_id.in_(some)))}
        if found.format == colloquy.NAME:
            numbers = [UUID(one) for one in some]
            is_own = own.id.in_(numbers) & (own.owner_id == scope.user_id)
            known |= {str(one) for one in session.scalars(select(own.id).where(is_own))}
    return len(known)


def _as_json(found: Inspection, known: int) -> dict[str, Any]:
    values = {**asdict(found), "known": known}
    del values["ids"]
    cleaned: dict[str, Any] = clean(values)
    return cleaned


def _wire(row: ImportRow) -> Import:
    return Import.model_validate({name: getattr(row, name) for name in Import.model_fields})


def erase_old(database: Database, place: ImportPlace, days: int = 7) -> None:
    """Erase uploads that nobody has imported for a week; what became of them is kept."""
    row = ImportRow
    too_old = row.created_at < func.clock_timestamp() - func.make_interval(0, 0, 0, days)
    with database.transaction() as session:
        old = session.scalars(
            select(row.id).where(row.status == ImportStatus.INSPECTED, too_old)
        ).all()
        session.execute(update(row).where(row.id.in_(old)).values(status=ImportStatus.CANCELLED))
    with database.read() as session:
        kept = select(row.id).where(
            (row.status == ImportStatus.RUNNING) | (row.status.in_(STARTABLE) & ~too_old)
        )
        needed = set(session.scalars(kept))
    for import_id in place.store.ids(SETTLED_SECONDS):  # a newer one may not have its row yet
        if import_id not in needed:
            place.erase(import_id)
