"""People, service accounts, their teams, and who they are at identity providers."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base

LOCAL = "local"  # who works without sign-in, and the first administrator once there are accounts


class UserRow(Base):
    """A person, or a service account: one that signs in with tokens only.

    `login`: what a person types to sign in with a password, in lower case; null for others.
    `email` is never an identity: only where messages go.
    `role_provider`: the provider whose groups gave the role; `given_role` is what an administrator
    gave, and applies again when they no longer do.
    """

    __tablename__ = "users"
    __table_args__ = (
        Index(
            "ix_users_organisation",
            "organisation",
            postgresql_where=text("organisation IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    login: Mapped[str | None] = mapped_column(unique=True)
    email: Mapped[str | None]
    role: Mapped[str] = mapped_column(server_default=text("'member'"))
    role_provider: Mapped[str | None]
    given_role: Mapped[str | None]
    organisation: Mapped[str | None]
    is_service: Mapped[bool] = mapped_column(server_default=text("false"))
    password_hash: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    seen_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]


class IdentityRow(Base):
    """Who a person is at an identity provider or a proxy: the key is never their address."""

    __tablename__ = "identities"
    __table_args__ = (Index("ix_identities_user_id", "user_id"),)

    issuer: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))


class TeamRow(Base):
    """A team: its members share the conversations that belong to it, and what it was granted."""

    __tablename__ = "teams"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class TeamMemberRow(Base):
    """A member of a team. `provider`: the one whose groups say so; null: an administrator does."""

    __tablename__ = "team_members"
    __table_args__ = (Index("ix_team_members_user_id", "user_id"),)

    team_id: Mapped[str] = mapped_column(
        ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[str] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    provider: Mapped[str | None]
