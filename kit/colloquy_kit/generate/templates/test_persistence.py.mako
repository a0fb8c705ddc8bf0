"""What this application relies on in its conversations.

Written by `colloquy generate`, and yours: what you change is kept when it runs again.
"""

from collections.abc import Iterator
% if "cast" in scope_call:
from types import SimpleNamespace
from typing import cast
% endif
% if key == "UUID":
from uuid import UUID
% endif

import pytest
from colloquy_kit.messages.state import empty_state
from colloquy_kit.store.errors import ${"NotAllowed, " if owner else ""}NotBound, NotFound
from colloquy_kit.store.tables import Sessions
from langchain_core.messages import AIMessage, HumanMessage
from sqlalchemy import create_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

${imports}

ONE: ${key} = ${one}
OTHER: ${key} = ${two}


def scope(number: ${key}, kind: str = "${kind}") -> Scope:
    """Return who asks."""
    return ${scope_call}


@pytest.fixture
def session() -> Iterator[Session]:
    """Yield a session on empty tables in memory, which checks no foreign keys."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
% if schema:
    engine = engine.execution_options(schema_translate_map={"${schema}": None})
% endif
    names = {
        model.__tablename__ for model in (Conversation, AgentState, DisplayMessage)
    }
    metadata = Conversation.metadata
    tables = [table for table in metadata.tables.values() if table.name in names]
    metadata.create_all(engine, tables=tables)
    with Session(engine) as opened:
        yield opened
    engine.dispose()


def test_conversations_are_listed_for_whose_they_are(session: Session) -> None:
    mine = service.create_conversation(scope(ONE), {"title": "mine"}, session=session)
    service.create_conversation(scope(OTHER), {"title": "theirs"}, session=session)

    listed = service.list_conversations(scope(ONE), session=session)

    assert [conversation.id for conversation in listed] == [mine.id]
    found = service.get_conversation(scope(ONE), mine.id, session=session)
    assert found.title == "mine"


def test_another_s_conversation_is_neither_read_nor_written(session: Session) -> None:
    mine = service.create_conversation(scope(ONE), session=session)
    for stranger in (scope(OTHER), scope(ONE, "stranger")):
        for call in (
            lambda who: service.get_conversation(who, mine.id, session=session),
            lambda who: service.update_conversation(who, mine.id, {}, session=session),
            lambda who: service.delete_conversation(who, mine.id, session=session),
            lambda who: service.load_agent_state(who, mine.id, session=session),
            lambda who: service.save_agent_state(
                who, mine.id, empty_state(), session=session
            ),
            lambda who: service.save_message(
                who, mine.id, HumanMessage("no"), session=session
            ),
            lambda who: service.load_display_messages(who, mine.id, session=session),
            lambda who: service.clear_display_messages(who, mine.id, session=session),
        ):
            with pytest.raises(NotFound):
                call(stranger)
        assert not service.list_conversations(stranger, session=session)


% if owner:
def test_only_an_owner_creates_conversations(session: Session) -> None:
    with pytest.raises(NotAllowed):
        service.create_conversation(scope(ONE, "stranger"), session=session)


% endif
def test_both_views_are_kept(session: Session) -> None:
    who = scope(ONE)
    mine = service.create_conversation(who, session=session)
    state = {**empty_state(), "kept": True}

    version = service.save_agent_state(who, mine.id, state, version=0, session=session)
    service.save_message(who, mine.id, HumanMessage("Hello"), session=session)
    service.save_message(who, mine.id, AIMessage("Hi there"), session=session)

    loaded = service.load_agent_state(who, mine.id, session=session)
    rows = service.load_display_messages(who, mine.id, session=session)
    assert (loaded.state["kept"], loaded.version) == (True, version)
    assert [row.content["text"] for row in rows] == ["Hello", "Hi there"]
    hits = service.search(who, "there", session=session)
    assert [hit.conversation.id for hit in hits] == [mine.id]


def test_a_deleted_conversation_is_gone(session: Session) -> None:
    mine = service.create_conversation(scope(ONE), session=session)

    service.delete_conversation(scope(ONE), mine.id, session=session)

    with pytest.raises(NotFound):
        service.get_conversation(scope(ONE), mine.id, session=session)


def test_old_conversations_are_deleted(session: Session) -> None:
    who = scope(ONE)
    service.create_conversation(who, session=session)

    assert service.delete_older_than(days=1, session=session) == 0
    assert service.delete_older_than(days=0, scope=scope(OTHER), session=session) == 0
    assert service.delete_older_than(days=0, session=session) == 1
    assert not service.list_conversations(who, session=session)


def test_a_call_before_bind_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "SESSIONS", Sessions())

    with pytest.raises(NotBound):
        service.list_conversations(scope(ONE))
