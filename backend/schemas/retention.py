"""The wire contract of retention: its rules, and which sessions are deleted next."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class Reason(StrEnum):
    """Why a session is deleted: unused too long, over its owner's limit, or to free storage."""

    AGE = "age"
    NUMBER = "number"
    STORAGE = "storage"


class RetentionRules(Wire):
    """The rules in the settings; 0 turns a rule off. A domain may set its own days."""

    days: int
    sessions_per_person: int
    megabytes: int
    every_hours: float


class Departing(Wire):
    """A session that retention will delete next."""

    id: UUID
    title: str
    owner: str
    owner_name: str
    domain: str
    updated_at: datetime
    last_accessed_at: datetime
    reason: Reason


class RetentionRun(Wire):
    """One run of retention."""

    at: datetime
    actor: str
    planned: int
    deleted: int


class Retention(Wire):
    """The rules, what they would delete now, and past runs."""

    rules: RetentionRules
    planned: int = Field(description="How many sessions a run would delete now.")
    first: list[Departing] = Field(description="The first of these sessions, oldest first.")
    runs: list[RetentionRun] = Field(description="The latest runs, newest first.")


class RetentionOutcome(Wire):
    """The result of one run; a dry run deletes nothing."""

    planned: int
    deleted: int
