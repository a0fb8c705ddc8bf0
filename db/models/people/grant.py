"""Rights on single resources, and budgets of people and teams."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class GrantRow(Base):
    """One right of one principal on one resource. There are no denials: the union holds."""

    __tablename__ = "grants"
    __table_args__ = (
        Index("ix_grants_principal", "principal_type", "principal_id", "resource_type"),
    )

    resource_type: Mapped[str] = mapped_column(primary_key=True)
    resource_id: Mapped[str] = mapped_column(primary_key=True)
    principal_type: Mapped[str] = mapped_column(primary_key=True)
    principal_id: Mapped[str] = mapped_column(primary_key=True)
    right: Mapped[str] = mapped_column(primary_key=True)
    granted_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class BudgetRow(Base):
    """What a person or a team may use in a day; null: not limited here."""

    __tablename__ = "budgets"

    principal_type: Mapped[str] = mapped_column(primary_key=True)
    principal_id: Mapped[str] = mapped_column(primary_key=True)
    tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost: Mapped[float | None]
