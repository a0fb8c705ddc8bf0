"""The wire contract of retention: what is kept for how long, and what goes next."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from backend.schemas.wire import Wire


class Reason(StrEnum):
    """Why a session goes: unused for too long, beyond a person's number, or for want of room."""

    AGE = "age"
    NUMBER = "number"
    STORAGE = "storage"


class RetentionRules(Wire):
    """What the settings say; 0 means that the rule is off. Domains may have days of their own."""

    days: int
    sessions_per_person: int
    megabytes: int
    every_hours: float


class Departing(Wire):
    """A session that retention deletes next."""

    id: UUID
    title: str
    owner: str
    domain: str
    updated_at: datetime
    reason: Reason


class RetentionRun(Wire):
    """One time that retention was applied."""

    at: datetime
    actor: str
    planned: int
    deleted: int


class Retention(Wire):
    """The rules, what they would delete now, and when they were applied."""

    rules: RetentionRules
    planned: int = Field(description="How many sessions go if it is applied now.")
    first: list[Departing] = Field(description="The first of them, oldest first.")
    runs: list[RetentionRun] = Field(description="The latest ones, newest first.")


class RetentionOutcome(Wire):
    """What one application has done; nothing, if it was a dry run."""

    planned: int
    deleted: int
