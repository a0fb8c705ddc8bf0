"""Ways in: sign-ins, API tokens and one-time links, and what has failed. Tokens are digests."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class SignInRow(Base):
    """One sign-in of one browser. `ends_at` is its absolute end; it ends earlier if unused.

    `way`: local, oidc or proxy. `address` and `browser` tell a person which of theirs it is.
    """

    __tablename__ = "sign_ins"
    __table_args__ = (
        Index("ix_sign_ins_user_id", "user_id", text("created_at DESC")),
        Index("ix_sign_ins_ends_at", "ends_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    token_hash: Mapped[str] = mapped_column(unique=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    way: Mapped[str]
    address: Mapped[str] = mapped_column(server_default=text("''"))
    browser: Mapped[str] = mapped_column(server_default=text("''"))
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    used_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    ends_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class ApiTokenRow(Base):
    """A token for programs. `allows`: read, ask or manage."""

    __tablename__ = "api_tokens"
    __table_args__ = (Index("ix_api_tokens_user_id", "user_id", text("created_at DESC")),)

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    token_hash: Mapped[str] = mapped_column(unique=True)
    allows: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class OneTimeLinkRow(Base):
    """A link that is used once; its use deletes it. `purpose`: first_admin, invitation, reset."""

    __tablename__ = "one_time_links"
    __table_args__ = (Index("ix_one_time_links_user_id", "user_id"),)

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    purpose: Mapped[str]
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    expires_at: Mapped[datetime]


class FailedSignInRow(Base):
    """A failed sign-in of an account, or from an address: the next ones of `subject` wait."""

    __tablename__ = "failed_sign_ins"
    __table_args__ = (Index("ix_failed_sign_ins_subject", "subject", "at"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    subject: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
