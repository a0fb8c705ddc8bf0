"""What must not be done twice: turns deleted with their conversation, questions to workers."""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class SpentKeyRow(Base):
    """A key that has started a turn or was a question's id, and must not be used again."""

    __tablename__ = "spent_keys"

    owner_id: Mapped[str] = mapped_column(primary_key=True)
    idempotency_key: Mapped[str] = mapped_column(primary_key=True)
    spent_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
