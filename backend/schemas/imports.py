"""The wire contract of imports: what was found in an upload, and what became of it."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Input, Wire


class ImportStatus(StrEnum):
    """Where an import stands; a cancelled or failed one can be started again."""

    INSPECTED = "inspected"
    RUNNING = "running"
    CANCELLED = "cancelled"
    FAILED = "failed"
    SUCCEEDED = "succeeded"


class LeftOut(Wire):
    """A conversation that cannot be imported, and why."""

    title: str
    reason: str


class ImportInspection(Wire):
    """What was found in an upload, before anything of it is stored."""

    format: str = Field(examples=["chatgpt"])
    label: str = Field(examples=["ChatGPT"])
    conversations: int
    known: int = Field(description="Of these, how many the caller has imported before.")
    messages: int
    attachments: int
    missing: int = Field(description="Attachments that the export does not contain.")
    skipped_count: int = Field(description="Conversations that cannot be imported.")
    skipped: list[LeftOut] = Field(description="The first of these.")
    notes: list[str] = Field(description="What would be cut, skipped or guessed.")
    titles: list[str] = Field(description="The first titles.")
    first_at: datetime | None
    last_at: datetime | None


class ImportReport(Wire):
    """A conversation of which there is something to say."""

    title: str
    outcome: str = Field(examples=["imported", "known", "changed", "skipped"])
    session_id: UUID | None
    notes: list[str]


class Import(Wire):
    """An upload of another program's export, and the import of it."""

    id: UUID
    name: str
    size: int
    status: ImportStatus
    inspection: ImportInspection
    domain_id: UUID | None = Field(description="Of the new sessions; null: the default domain.")
    done: int = Field(description="Conversations that were dealt with, of all in the upload.")
    counts: dict[str, int] = Field(description="How many, by what became of them.")
    report: list[ImportReport] = Field(description="The first of which there is something to say.")
    error: str | None = Field(description="Why it failed.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class ImportPage(Wire):
    """One page of imports, newest first."""

    items: list[Import]
    next_cursor: str | None


class ImportStart(Input):
    """How to import what was inspected."""

    domain: str | None = Field(
        None, description="The domain of the new sessions, by name or id; absent: the default one."
    )
