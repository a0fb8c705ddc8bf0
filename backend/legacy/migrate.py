"""Taking over one row after the other, each in a transaction of its own."""

import base64
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from sqlalchemy import insert, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.domains.team import everyone_in
from backend.domains.template import template_of
from backend.errors.base import AppError
from backend.files.store import open_files
from backend.imports import writer
from backend.imports.attachments import Attachments
from backend.imports.model import Attachment, ImportedConversation
from backend.imports.prepare import prepare
from backend.imports.tree import MOST_MESSAGES, TooManyMessages
from backend.legacy.configuration import Configuration, is_about_domain
from backend.legacy.messages import read_messages
from backend.legacy.plan import Outcome, Plan, Reason
from backend.legacy.report import BEFORE, NOW, Entry
from backend.schemas.conversations.sessions import MAX_TITLE_CHARS
from backend.settings import Settings
from backend.text import LONGEST_ID, counted, is_visible, plain_id
from colloquy_kit.messages.clean import clean_text
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.legacy import LegacyIdRow
from db.session import AWAY, Database

SOURCE, LABEL = "agentx", "the older system"
_BATCH = 1000
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtextextended('colloquy legacy', 0))")
METADATA = "legacy"  # the key in a conversation's metadata: its entry in the report
MIXED = (
    "The history is mixed: the older system kept one for this and {others}, and does not tell whose"
    " a message is."
)


class _Undo(Exception):
    """Ends a transaction of a dry run."""


@dataclass
class Migration:
    """Takes rows over for one owner. Each row's own transaction holds all that it becomes."""

    database: Database
    scope: Scope
    configuration: Configuration
    settings: Settings
    now: datetime
    is_dry_run: bool = False
    _taken: dict[UUID, Entry] = field(default_factory=dict)

    def run(self, plans: Sequence[Plan]) -> Iterator[Entry]:
        """Take all rows; yield what to report of each.

        What is wrong with a row is in its entry. Raise only what concerns all: one of AWAY.
        """
        ids = [plan.row.session_id for plan in plans if plan.row.session_id]
        with self.database.read() as session:
            for first in range(0, len(ids), _BATCH):
                self._taken |= self._entries(session, ids[first : first + _BATCH])
        with TemporaryDirectory(prefix="colloquy-legacy-") as folder:
            for plan in plans:
                yield self._take(plan, Path(folder))

    def _take(self, plan: Plan, folder: Path) -> Entry:
        """Make a conversation of a row, unless it was made before; return what to report."""
        entry, session_id = _begin(plan), plan.row.session_id
        if plan.outcome is Outcome.REPORTED or session_id is None:
            return entry
        if session_id in self._taken:
            return self._taken[session_id]
        files = Attachments(open_files(self.settings), self.settings.max_files_mb)
        is_kept = False
        try:
            with self.database.transaction() as session:
                self._write(session, plan, entry, session_id, files, folder)
                if self.is_dry_run:
                    raise _Undo
            is_kept = True
        except _Undo:
            pass
        except AWAY:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of one row must lose no other one
            return self._after(error, entry, session_id)
        finally:
            if not is_kept:
                files.undo()
        return entry

    def _after(self, error: Exception, entry: Entry, session_id: UUID) -> Entry:
        """Return what to report of a row whose transaction failed."""
        if isinstance(error, IntegrityError):
            with self.database.read() as session:  # taken by another run meanwhile?
                if before := self._entries(session, [session_id]):
                    return before[session_id]
        entry.outcome, entry.reason = Outcome.REPORTED, Reason.FAILED
        entry.session, entry.messages, entry.is_mixed, entry.taken = None, 0, False, ""
        words = f"What was wrong: {type(error).__name__}."
        if isinstance(error, AppError):
            words = error.detail
            entry.reason = Reason.DOMAIN if is_about_domain(error) else Reason.FAILED
        elif isinstance(error, TooManyMessages):
            words = f"It has more than {MOST_MESSAGES:,} messages, the limit."
        entry.notes.append(words)
        return entry

    def _entries(self, session: Session, ids: Sequence[UUID]) -> dict[UUID, Entry]:
        """Return the entries of those that were taken in an earlier run."""
        row = ConversationRow
        found = session.execute(
            select(row.id, row.metadata_[METADATA], row.owner_id).where(row.id.in_(ids))
        )
        entries = {}
        for id, entry, owner in found.tuples():
            entries[id] = Entry(**{**entry, "taken": BEFORE})
            if owner != self.scope.user_id:
                entries[id].notes.append(f"It was taken for another person: {owner}.")
        return entries

    def _write(
        self,
        session: Session,
        plan: Plan,
        entry: Entry,
        session_id: UUID,
        files: Attachments,
        folder: Path,
    ) -> None:
        """Write what a row becomes, and complete its entry."""
        session.execute(_ONE_BY_ONE)  # two runs would make the same domains
        row, notes, store = plan.row, entry.notes, self.configuration.store
        domain = self.configuration.domain(session, self.scope, row.domain_id, notes)
        image = self.configuration.image(domain, plan.image_id, notes)
        messages = read_messages(store.messages(plan.history, notes), self.now, notes)
        if plan.shares_with:
            entry.is_mixed = True
            notes.insert(0, MIXED.format(others=counted(plan.shares_with, "other conversation")))
        said = ImportedConversation(
            SOURCE,
            str(session_id),
            row.title if is_visible(row.title) else f"Conversation {row.id or row.number}",
            messages,
            created_at=row.created_at,
            updated_at=row.updated_at,
            notes=[clean_text(note) for note in notes],
        )
        first = next(iter(everyone_in(template_of(image.template))))
        prepared = prepare(said, first.name, LABEL, session_id)
        files.paths = _decode(prepared.files.values(), folder)
        written = writer.store(session, self.scope, image, prepared, files)
        entry.notes = written.notes
        entry.session, entry.messages, entry.taken = str(session_id), len(messages), NOW
        own = [plan.image_id, plan.history] if plan.image_id else []
        _keep_ids(session, session_id, [row.id, row.value, *own])
        _mark(session, session_id, entry)


def _begin(plan: Plan) -> Entry:
    row = plan.row
    cut = [f"Its title was cut to {MAX_TITLE_CHARS} characters."]
    notes = [*row.notes, *(cut if len(row.title) > MAX_TITLE_CHARS else []), *plan.notes]
    return Entry(
        row=row.number,
        id=clean_text(row.id),
        title=clean_text(row.title),
        domain=clean_text(row.domain_id),
        session_id=clean_text(row.value),
        outcome=plan.outcome,
        reason=plan.reason,
        notes=[clean_text(note) for note in notes],
    )


def _decode(found: Iterable[Attachment], folder: Path) -> dict[str, Path]:
    """Write what stands in `data:` URLs to files; those that are damaged are left out."""
    paths: dict[str, Path] = {}
    for number, where in enumerate({one.where for one in found if one.where}):
        with suppress(ValueError):
            content = base64.b64decode(where.partition(",")[2])
            paths[where] = folder / str(number)
            paths[where].write_bytes(content)
    return paths


def _keep_ids(session: Session, conversation_id: UUID, legacy_ids: Iterable[str]) -> None:
    kept = {clean_text(one)[:LONGEST_ID]: plain_id(one) for one in legacy_ids if plain_id(one)}
    session.execute(
        insert(LegacyIdRow),
        [
            {"conversation_id": conversation_id, "legacy_id": one, "plain_id": plain}
            for one, plain in kept.items()
        ],
    )


def _mark(session: Session, conversation_id: UUID, entry: Entry) -> None:
    session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == conversation_id)
        .values(metadata_=ConversationRow.metadata_.concat({METADATA: asdict(entry)}))
        .execution_options(synchronize_session=False)
    )
