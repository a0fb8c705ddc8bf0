"""The usage ledger, which is kept even when a conversation is deleted."""

from datetime import date
from uuid import UUID

from sqlalchemy import BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class UsageDayRow(Base):
    """One person's usage of one model in one domain on one day (UTC), for themselves or for a team.

    `domain_id` is nil for sessions whose domain had been deleted; `domain_name` is what the domain
    was called then. `team`: the team that the sessions belonged to; empty: none.
    Each turn that ends updates such a row, so table pages keep free space for that.
    """

    __tablename__ = "usage_days"
    __table_args__ = (
        Index("ix_usage_days_domain", "domain_id", "day"),
        {"postgresql_with": {"fillfactor": 50}},
    )

    day: Mapped[date] = mapped_column(primary_key=True)
    owner_id: Mapped[str] = mapped_column(primary_key=True)
    team: Mapped[str] = mapped_column(primary_key=True, server_default=text("''"))
    domain_id: Mapped[UUID] = mapped_column(primary_key=True)
    domain_name: Mapped[str] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    turns: Mapped[int] = mapped_column(server_default="0")
    model_calls: Mapped[int] = mapped_column(server_default="0")
    input_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    cached_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    output_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    reasoning_tokens: Mapped[int] = mapped_column(BigInteger, server_default="0")
    cost: Mapped[float] = mapped_column(server_default="0")
