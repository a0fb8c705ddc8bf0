"""Questions to workers, sealed so that whoever can write to Redis cannot ask any.

A worker connects to the servers of a question with their secrets, and acts as the person it names.
So the API seals each question with the installation's encryption key, which Redis does not have,
and a worker opens it while it is fresh, and once.
"""

from datetime import timedelta

from pydantic import BaseModel
from sqlalchemy import delete, func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.connections.keyring import Keyring
from backend.errors.base import ConfigurationError
from backend.errors.models import KeyUnreadable
from backend.settings import Settings
from db.models.turns.spent_key import SpentKeyRow

PURPOSE = "question to workers"  # what else is sealed with the same key opens no question
NOT_OURS = "it was not sealed by this installation, or too long ago"
REPEATED = "it was asked before"
_KEPT = timedelta(hours=1)  # far longer than a question is fresh


class QuestionRefused(Exception):
    """A question that nobody has asked, or not now; its text says why."""


def seal(settings: Settings, question: BaseModel) -> str:
    """Return the question as Redis carries it. Raise ConfigurationError."""
    try:
        return Keyring(settings).seal(question.model_dump_json(), PURPOSE)
    except OSError as error:
        raise ConfigurationError(
            "The workers cannot be asked, because the question cannot be sealed: DATA_DIR is not"
            f" writable ({error.strerror}). Fix that, or set ENCRYPTION_KEY."
        ) from error


def unseal(settings: Settings, sealed: bytes, within_seconds: int) -> str:
    """Return a question's JSON. Raise QuestionRefused unless it was sealed a short time ago."""
    try:
        text = sealed.decode(errors="replace")
        return Keyring(settings).open(text, PURPOSE, within_seconds)
    except KeyUnreadable:
        raise QuestionRefused(NOT_OURS) from None


def spend(session: Session, question_id: str) -> None:
    """Note that a question is being answered. Raise QuestionRefused if one worker did so before.

    That is noted in PostgreSQL: all workers share it, and the writers of Redis cannot erase it.
    """
    too_old = SpentKeyRow.spent_at < func.clock_timestamp() - _KEPT
    session.execute(delete(SpentKeyRow).where(SpentKeyRow.owner_id == PURPOSE, too_old))
    note = insert(SpentKeyRow).values(owner_id=PURPOSE, idempotency_key=question_id)
    noted = note.on_conflict_do_nothing().returning(SpentKeyRow.idempotency_key)
    if session.scalar(noted) is None:
        raise QuestionRefused(REPEATED)
