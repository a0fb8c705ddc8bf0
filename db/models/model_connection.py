"""The connection to models that an administrator has set on the page Models."""

from datetime import datetime

from sqlalchemy import BigInteger, Identity, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class ModelConnectionRow(Base):
    """The newest row applies; without any row the environment does.

    Each change is a new row, so that its number tells processes whether they know it; earlier rows
    are deleted with their keys. `sealed_key` is encrypted together with `base_url`, and null if the
    endpoint needs no key.
    """

    __tablename__ = "model_connections"

    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    base_url: Mapped[str]
    sealed_key: Mapped[str | None]
    default_model: Mapped[str]
    saved_by: Mapped[str]
    saved_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
