"""The mixins: a host's classes on SQLite and, as statements, on PostgreSQL."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.schema import CreateTable

from colloquy_kit.errors import Unchangeable
from colloquy_kit.tables.mixins import AgentStateMixin, ConversationMixin, DisplayMessageMixin

WAS = datetime(2026, 1, 1, tzinfo=UTC)


class Base(DeclarativeBase):
    pass


class Conversation(ConversationMixin, Base):
    __tablename__ = "my_conversations"
    user_id: Mapped[int]


class AgentState(AgentStateMixin, Base):
    __tablename__ = "my_agent_states"
    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(Conversation.id), unique=True)


class DisplayMessage(DisplayMessageMixin, Base):
    __tablename__ = "my_display_messages"
    conversation_id: Mapped[UUID] = mapped_column(ForeignKey(Conversation.id))


@pytest.fixture
def session() -> Iterator[Session]:
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        yield session
    engine.dispose()


def said(session: Session, **values: Any) -> DisplayMessage:
    conversation = Conversation(user_id=1, updated_at=WAS)
    session.add(conversation)
    session.flush()
    kinds = {"message_type": "assistant", "content_type": "tool_call", "content": {"a": [1]}}
    row = DisplayMessage(conversation_id=conversation.id, **kinds, **values)
    session.add(row)
    session.commit()
    return row


def test_documents_are_jsonb_on_postgresql_and_json_elsewhere() -> None:
    for table in Base.metadata.tables.values():
        there = str(CreateTable(table).compile(dialect=postgresql.dialect()))
        here = str(CreateTable(table).compile(dialect=sqlite.dialect()))

        assert " JSONB" in there
        assert " JSON" in here
        assert "JSONB" not in here
        assert " JSON" not in there.replace("JSONB", "")


def test_a_key_comes_first_and_names_of_indexes_begin_with_the_tables() -> None:
    tables = Base.metadata.tables

    assert {next(iter(table.columns)).name for table in tables.values()} == {"id"}
    names = {index.name for table in tables.values() for index in table.indexes}
    assert names == {"ix_my_conversations_updated_at", "ix_my_display_messages_shown"}


def test_a_row_has_its_defaults_and_comes_back_as_it_was_stored(session: Session) -> None:
    number = said(session, status="executing").id
    session.expunge_all()

    stored = session.scalars(select(DisplayMessage)).one()
    conversation = session.scalars(select(Conversation)).one()

    assert (stored.id, stored.content, stored.status) == (number, {"a": [1]}, "executing")
    assert (stored.sequence, stored.metadata_) == (0, {})
    assert (conversation.title, conversation.version, conversation.scope) == ("", 1, None)


def test_a_change_of_a_conversation_moves_its_time(session: Session) -> None:
    conversation = session.get_one(Conversation, said(session).conversation_id)

    conversation.title = "Budget"
    session.commit()

    assert conversation.updated_at.replace(tzinfo=UTC) > WAS


@pytest.mark.parametrize(
    ("before", "after"),
    [("pending", "executing"), ("pending", "failed"), ("executing", "completed")],
)
def test_a_status_moves_forward(session: Session, before: str, after: str) -> None:
    row = said(session, status=before)

    row.status = after
    session.commit()

    assert row.status == after


@pytest.mark.parametrize(
    ("before", "after"),
    [("completed", "executing"), ("failed", "completed"), ("executing", "pending")],
)
def test_a_status_never_moves_back(session: Session, before: str, after: str) -> None:
    row = said(session, status=before)

    row.status = after
    with pytest.raises(Unchangeable, match=f"is {before} cannot become {after}"):
        session.commit()


@pytest.mark.parametrize(
    ("name", "value"), [("content", {}), ("metadata_", {"a": 1}), ("sequence", 7)]
)
def test_what_people_saw_does_not_change(session: Session, name: str, value: Any) -> None:
    row = said(session)

    setattr(row, name, value)
    with pytest.raises(Unchangeable, match=name.rstrip("_")):
        session.commit()
