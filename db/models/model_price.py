"""What models cost, as far as that is set on the page Models."""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class ModelPriceRow(Base):
    """The price of one model, per million tokens; `cached` is null where it is that of input."""

    __tablename__ = "model_prices"

    model: Mapped[str] = mapped_column(primary_key=True)
    input: Mapped[float]
    cached: Mapped[float | None]
    output: Mapped[float]
    saved_by: Mapped[str]
    saved_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
