"""Importing what was inspected: a worker takes it with a lease, conversation by conversation.

Each conversation is one transaction, which also notes how far the import is. Whoever continues
after a killed worker begins there, and finds what was stored already.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from backend.auth.callers import scope_of
from backend.auth.scope import Scope
from backend.conversations.service import Image
from backend.domains import service as domains
from backend.domains.template import image_of, template_of
from backend.errors.base import AppError
from backend.imports.attachments import Attachments
from backend.imports.model import Attachment, Skipped, StoredConversation
from backend.imports.place import ImportPlace
from backend.imports.prepare import Prepared, prepare
from backend.imports.reading import READING, Read, convert, converted, extract
from backend.imports.restore import Restorer, Unfit
from backend.imports.tree import MOST_MESSAGES, TooManyMessages
from backend.imports.writer import Outcome, Written, find_known, store
from backend.logs.fields import only_fields
from backend.schemas.imports import ImportStatus
from backend.schemas.people.rights import Allows
from backend.turns.process.services import Services
from db.failpoints import failpoint
from db.models.imports import ImportRow
from db.session import AWAY, Database

MOST_REPORTED = 500  # conversations of which there is something to say
LOOK_SECONDS = 1.0
_REFUSED = "It holds something that cannot be stored."
_UNEXPECTED = "It cannot be imported because of an unexpected error; the log has the details."
log = logging.getLogger(__name__)


class LostImport(Exception):
    """Another worker has the import, or it was cancelled."""


@dataclass(frozen=True)
class Job:
    """A claimed import; `attempt` fences what is written for it."""

    id: UUID
    owner_id: str
    name: str
    domain_id: UUID | None
    allows: Allows
    label: str
    done: int
    attempt: int


class Importer:
    """Imports for one worker process; `taken`: names of sources that files cannot have."""

    def __init__(self, services: Services, taken: Callable[[], Sequence[str]]) -> None:
        self._services = services
        self._database: Database = services.database
        self._place = ImportPlace(services.settings)
        self._taken = taken
        self._lease = timedelta(seconds=services.settings.lease_seconds)

    def work(self, closing: Event) -> bool:
        """Take an import that waits, or whose worker was lost, and finish it; return if any."""
        job = self._claim()
        if job is None:
            return False
        with only_fields(person=job.owner_id, import_id=job.id):
            self._do(job, closing)
        return True

    def _do(self, job: Job, closing: Event) -> None:
        try:
            with self._kept(job):
                self._run(job, closing)
        except LostImport:
            log.info("Import %s was cancelled, or another worker has it", job.id)
            self._place.erase(job.id, upload=False)
        except AppError as error:
            self._end(job, ImportStatus.FAILED, error.detail)

    def _run(self, job: Job, closing: Event) -> None:
        place = self._place.converted(job.id)
        if not place.is_file():
            asyncio.run(self._convert(job, place))
        failpoint("import.converted")
        for one in converted(place, job.done):
            if closing.is_set():
                self._give_back(job)
                return
            self._take(job, one)
            failpoint("import.stored")
        self._end(job, ImportStatus.SUCCEEDED, None)

    @contextmanager
    def _kept(self, job: Job) -> Iterator[None]:
        """Keep the lease meanwhile: a long conversation takes longer than one lasts."""
        done = Event()

        def renew() -> None:
            while not done.wait(self._lease.total_seconds() / 3):
                with suppress(LostImport, *AWAY):
                    self._renew(job)

        keeper = Thread(target=renew, name="import-lease", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            done.set()
            keeper.join()

    async def _convert(self, job: Job, place: Path) -> None:
        """Have the sandbox read the upload; stop that if the import is cancelled."""
        upload = self._place.upload(job.id)
        work = asyncio.ensure_future(
            self._services.sandbox.run(convert, upload, job.name, place, bounds=READING)
        )
        while not (await asyncio.wait({work}, timeout=LOOK_SECONDS))[0]:
            try:
                await asyncio.to_thread(self._renew, job)
            except LostImport:
                work.cancel()
                await asyncio.wait({work})
                raise
        work.result()

    def _take(self, job: Job, one: Read) -> None:
        """Store one conversation, and note that it is done."""
        title = one.title or one.source_id
        if isinstance(one, Skipped):
            self._skip(job, title, one.reason)
            return
        with self._reading(job) as (session, scope):
            image, known = self._image(session, scope, job), find_known(session, scope, one)
        if known is not None:
            with self._database.transaction() as session:
                self._note(session, job, title, known)
            return
        if isinstance(one, StoredConversation):
            self._restore(job, title, image, one)
            return
        try:
            prepared = prepare(one, template_of(image.template).agents[0].name, job.label)
        except TooManyMessages:
            self._skip(job, title, f"It has more than {MOST_MESSAGES:,} messages.")
        except Exception:  # the edge: what one conversation holds must not end the whole import
            log.exception("A conversation cannot be imported")
            self._skip(job, title, _UNEXPECTED)
        else:
            self._store(job, title, image, prepared)

    def _skip(self, job: Job, title: str, reason: str) -> None:
        with self._database.transaction() as session:
            self._note(session, job, title, Written(Outcome.SKIPPED, notes=[reason]))

    def _restore(self, job: Job, title: str, image: Image, stored: StoredConversation) -> None:
        services = self._services
        megabytes = services.settings.max_files_mb
        restorer = Restorer(services.files, services.artifacts.contents, megabytes, self._taken())
        self._write(
            job,
            title,
            lambda session, scope: restorer.restore(session, scope, image, stored),
            restorer.undo,
        )

    def _store(self, job: Job, title: str, image: Image, prepared: Prepared) -> None:
        attachments = Attachments(
            self._services.files,
            self._services.settings.max_files_mb,
            self._extract(job, list(prepared.files.values())),
            self._taken,
        )
        self._write(
            job,
            title,
            lambda session, scope: store(session, scope, image, prepared, attachments),
            attachments.undo,
        )

    def _write(
        self,
        job: Job,
        title: str,
        write: Callable[[Session, Scope], Written],
        undo: Callable[[], None],
    ) -> None:
        """Store one conversation and note it; what cannot be stored is passed over."""
        try:
            with self._database.transaction() as session:
                written = write(session, _scope(session, job))
                self._note(session, job, title, written)
        except Unfit as error:
            undo()
            self._skip(job, title, error.detail)
        except (DataError, IntegrityError) as error:
            undo()
            log.warning("A conversation was refused: %s", str(error).splitlines()[0])
            self._skip(job, title, _REFUSED)
        except BaseException:
            undo()
            raise

    def _extract(self, job: Job, files: list[Attachment]) -> dict[str, Path]:
        wanted = [file.where for file in files if file.where is not None]
        if not wanted:
            return {}
        upload, folder = self._place.upload(job.id), self._place.work(job.id)
        return self._services.sandbox.run_blocking(
            extract, upload, job.name, wanted, folder, bounds=READING
        )

    def _image(self, session: Session, scope: Scope, job: Job) -> Image:
        """Return the image of new sessions, as the owner may use the domain now."""
        named = None if job.domain_id is None else str(job.domain_id)
        found = domains.find(session, scope, named)
        return Image(found.id, found.name, image_of(domains.template_in(found)), found.version)

    @contextmanager
    def _reading(self, job: Job) -> Iterator[tuple[Session, Scope]]:
        with self._database.read() as session:
            yield session, _scope(session, job)

    def _claim(self) -> Job | None:
        row, now = ImportRow, func.clock_timestamp()
        waits = (row.status == ImportStatus.RUNNING) & or_(
            row.lease_until.is_(None), row.lease_until < now
        )
        first = select(row.id).where(waits).order_by(row.started_at).limit(1)
        with self._database.transaction() as session:
            found = session.scalar(
                update(row)
                .where(row.id == first.with_for_update(skip_locked=True).scalar_subquery())
                .values(lease_until=now + self._lease, attempt=row.attempt + 1)
                .returning(row)
            )
            if found is None:
                return None
            return Job(
                id=found.id,
                owner_id=found.owner_id,
                name=found.name,
                domain_id=found.domain_id,
                allows=Allows(found.allows),
                label=found.inspection["label"],
                done=found.done,
                attempt=found.attempt,
            )

    def _renew(self, job: Job) -> None:
        with self._database.transaction() as session:
            self._update(session, job, lease_until=func.clock_timestamp() + self._lease)

    def _give_back(self, job: Job) -> None:
        with self._database.transaction() as session:
            self._update(session, job, lease_until=None)

    def _note(self, session: Session, job: Job, title: str, written: Written) -> None:
        """Note what became of a conversation, in the transaction that stores it."""
        row = session.scalar(self._held(job).with_for_update())
        if row is None:
            raise LostImport
        row.done += 1
        row.counts = {**row.counts, written.outcome: row.counts.get(written.outcome, 0) + 1}
        if (written.notes or written.outcome is Outcome.SKIPPED) and len(
            row.report
        ) < MOST_REPORTED:
            row.report = [
                *row.report,
                {
                    "title": title[:200],
                    "outcome": written.outcome,
                    "session_id": written.session_id and str(written.session_id),
                    "notes": [note[:500] for note in written.notes[:20]],
                },
            ]
        row.lease_until = func.clock_timestamp() + self._lease
        session.flush()

    def _end(self, job: Job, status: ImportStatus, error: str | None) -> None:
        """End the import. What was read of the upload goes, and the upload if all is imported."""
        try:
            with self._database.transaction() as session:
                ended = {"finished_at": func.clock_timestamp(), "lease_until": None}
                self._update(session, job, status=status, error=error, **ended)
        except LostImport:
            log.info("Import %s was cancelled at its end", job.id)
            return
        self._place.erase(job.id, upload=status is ImportStatus.SUCCEEDED)

    def _update(self, session: Session, job: Job, **values: object) -> None:
        row = session.scalar(self._held(job).with_for_update())
        if row is None:
            raise LostImport
        for name, value in values.items():
            setattr(row, name, value)
        session.flush()

    def _held(self, job: Job) -> Select[ImportRow]:
        row = ImportRow
        return select(row).where(
            row.id == job.id, row.attempt == job.attempt, row.status == ImportStatus.RUNNING
        )


def _scope(session: Session, job: Job) -> Scope:
    """Return the owner as they are now, with no more than the token allowed that started it."""
    return replace(scope_of(session, job.owner_id), allows=job.allows)
