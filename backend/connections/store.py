"""The current connection to models: the one set on the Models page, else the environment's."""

from typing import NamedTuple

from pydantic import SecretStr
from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.orm import Session

from backend.connections.keyring import Keyring
from backend.llm.connection import Connection
from backend.settings import Settings
from db.models.model_connection import ModelConnectionRow

# The current row's number; null: the environment's connection. For use in larger statements.
NEWEST_NUMBER = select(func.max(ModelConnectionRow.number)).scalar_subquery()


class AnsweringModel(NamedTuple):
    """Which model answers if a domain names none, and whether it is the demo model."""

    model: str
    is_demo: bool


def find_saved(session: Session) -> ModelConnectionRow | None:
    """Return the connection that was set on the page, if any."""
    row = ModelConnectionRow
    return session.scalar(select(row).order_by(row.number.desc()).limit(1))


def open_saved(row: ModelConnectionRow, settings: Settings) -> Connection:
    """Return the connection with its key. Raise KeyUnreadable."""
    key = Keyring(settings).open(row.sealed_key, row.base_url) if row.sealed_key else ""
    return Connection(row.base_url, SecretStr(key), row.default_model)


def find_default_model(session: Session, settings: Settings) -> AnsweringModel:
    """Return which model answers by default."""
    row = find_saved(session)
    if row is None:
        return AnsweringModel(settings.default_model, settings.uses_demo_model)
    return AnsweringModel(row.default_model, is_demo=False)


def replace(session: Session, saved: Connection, settings: Settings, saved_by: str) -> None:
    """Use this connection from now on. Raise OSError if its key cannot be sealed."""
    key = saved.api_key.get_secret_value()
    sealed = Keyring(settings).seal(key, saved.base_url) if key else None
    clear(session)
    session.execute(
        insert(ModelConnectionRow).values(
            base_url=saved.base_url,
            sealed_key=sealed,
            default_model=saved.default_model,
            saved_by=saved_by,
        )
    )


def lock(session: Session) -> None:
    """Prevent other changes to the connection until the transaction ends."""
    session.execute(text("LOCK TABLE model_connections IN SHARE ROW EXCLUSIVE MODE"))


def clear(session: Session) -> bool:
    """Return to the environment's connection; return whether that changed anything."""
    lock(session)
    return bool(session.execute(delete(ModelConnectionRow)).rowcount)  # type: ignore[attr-defined]  # of a DELETE
