"""Agent states in PostgreSQL: what was written is read, one writer at a time, folded or not."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import UUID, uuid4

import pytest
from sqlalchemy import delete, func, select

from backend.auth.scope import LOCAL_USER
from backend.conversations import service as conversations
from backend.conversations.removal import delete_conversation
from backend.conversations.rows import add_rows
from backend.conversations.service import Image
from backend.conversations.state.delta import diff_states
from backend.conversations.state.store import COMPACT_FROM_DELTAS, load_state, load_state_at
from backend.conversations.state.writer import (
    append_delta,
    append_to_latest,
    compact,
    create_state,
    restore_version,
)
from backend.errors.conversations import SessionNotFound, StateNotKept
from backend.errors.turns import LeaseLost
from backend.types import JSON
from colloquy_kit.messages.display import user_text
from colloquy_kit.messages.state import empty_state
from db.models.conversations.agent_state import AgentStateDeltaRow, AgentStateRow
from db.session import Database
from tests.stack import Servers

LONG = "a text that is long enough to be stored once only, as people see it. " * 3


@pytest.fixture(scope="module")
def database(servers: Servers) -> Iterator[Database]:
    with closing(Database(servers.new_database())) as opened:
        yield opened


@pytest.fixture
def conversation(database: Database) -> UUID:
    with database.transaction() as session:
        made = conversations.create(session, LOCAL_USER, Image(None, "d", {"name": "d"}), None)
        create_state(session, made, empty_state())
    return made


def say(number: int) -> JSON:
    return {"role": "user", "content": f"message {number}", "id": str(number)}


def append(database: Database, conversation: UUID, version: int, *messages: JSON) -> int:
    with database.transaction() as session:
        return append_delta(session, conversation, version, {"append": list(messages)})


def load(database: Database, conversation: UUID) -> tuple[JSON, int]:
    with database.read() as session:
        stored = load_state(session, conversation)
    return stored.state, stored.version


def count_deltas(database: Database, conversation: UUID) -> int:
    rows = AgentStateDeltaRow
    with database.read() as session:
        counted = select(func.count()).where(rows.conversation_id == conversation)
        return session.scalar(counted) or 0


def test_a_new_conversation_has_the_empty_state(database: Database, conversation: UUID) -> None:
    assert load(database, conversation) == (empty_state(), 0)


def test_a_conversation_that_is_missing_has_no_state(database: Database) -> None:
    with pytest.raises(SessionNotFound):
        load(database, uuid4())


def test_steps_are_read_back_in_their_order(database: Database, conversation: UUID) -> None:
    for number in range(12):
        assert append(database, conversation, number, say(number)) == number + 1

    state, version = load(database, conversation)

    assert state["messages"] == [say(number) for number in range(12)]
    assert version == 12


def test_a_writer_that_read_an_older_version_is_refused(
    database: Database, conversation: UUID
) -> None:
    append(database, conversation, 0, say(0))

    with pytest.raises(LeaseLost):
        append(database, conversation, 0, say(1))

    assert load(database, conversation)[0]["messages"] == [say(0)]


def test_of_writers_at_one_version_exactly_one_wins(database: Database, conversation: UUID) -> None:
    def write(number: int) -> bool:
        try:
            append(database, conversation, 0, say(number))
        except LeaseLost:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(write, range(8)))

    assert won.count(True) == 1
    assert load(database, conversation) == (
        {**empty_state(), "messages": [say(won.index(True))]},
        1,
    )


def test_a_transaction_that_fails_writes_nothing(database: Database, conversation: UUID) -> None:
    with pytest.raises(RuntimeError), database.transaction() as session:
        append_delta(session, conversation, 0, {"append": [say(0)]})
        raise RuntimeError

    assert load(database, conversation) == (empty_state(), 0)


def test_a_fold_changes_nothing_that_is_read(database: Database, conversation: UUID) -> None:
    for number in range(5):
        append(database, conversation, number, say(number))
    before = load(database, conversation)

    with database.transaction() as session:
        compact(session, conversation, 5)

    assert load(database, conversation) == before
    assert append(database, conversation, 5, say(5)) == 6
    assert load(database, conversation)[0]["messages"] == [say(number) for number in range(6)]


def test_each_state_of_the_past_can_be_had_after_a_fold(
    database: Database, conversation: UUID
) -> None:
    states = [load(database, conversation)[0]]
    for number in range(5):
        append(database, conversation, number, say(number))
        states.append(load(database, conversation)[0])
    with database.transaction() as session:
        compact(session, conversation, 5)

    with database.read() as session:
        assert [load_state_at(session, conversation, v) for v in range(6)] == states


def test_a_past_that_was_not_kept_is_refused(database: Database, conversation: UUID) -> None:
    append(database, conversation, 0, say(0))
    append(database, conversation, 1, say(1))
    with database.transaction() as session:
        first = (AgentStateDeltaRow.conversation_id == conversation) & (
            AgentStateDeltaRow.version == 1
        )
        session.execute(delete(AgentStateDeltaRow).where(first))

    with database.read() as session, pytest.raises(StateNotKept):
        load_state_at(session, conversation, 2)


def test_what_was_said_after_an_old_fold_can_be_had(database: Database, conversation: UUID) -> None:
    for number in range(4):
        append(database, conversation, number, say(number))
    with database.transaction() as session:
        compact(session, conversation, 4)
        old = AgentStateDeltaRow.conversation_id == conversation
        session.execute(delete(AgentStateDeltaRow).where(old))
    append(database, conversation, 4, say(4))
    append(database, conversation, 5, say(5))

    with database.read() as session:
        assert len(load_state_at(session, conversation, 5)["messages"]) == 5
        with pytest.raises(StateNotKept):
            load_state_at(session, conversation, 3)


def test_a_state_is_brought_back_by_one_more_version(
    database: Database, conversation: UUID
) -> None:
    for number in range(4):
        append(database, conversation, number, say(number))
    before = load(database, conversation)[0]
    summary = {"role": "user", "content": "so far", "id": "s"}
    shorter = {**before, "messages": [summary, before["messages"][3]], "todos": [{"a": 1}]}
    with database.transaction() as session:
        append_delta(session, conversation, 4, diff_states(before, shorter))

    with database.transaction() as session:
        version = restore_version(session, conversation, 4)

    assert (version, load(database, conversation)) == (6, (before, 6))
    with database.read() as session:
        assert load_state_at(session, conversation, 5) == shorter


def test_what_concerns_the_whole_conversation_is_not_brought_back(
    database: Database, conversation: UUID
) -> None:
    with database.transaction() as session:
        told = {"set": {"metadata": {"told": ["once"]}, "todos": [1]}}
        append_delta(session, conversation, 0, told)

    with database.transaction() as session:
        restore_version(session, conversation, 0)

    assert load(database, conversation)[0] == {**empty_state(), "metadata": {"told": ["once"]}}


def test_a_text_that_is_brought_back_is_stored_once(database: Database, conversation: UUID) -> None:
    said = {"role": "user", "content": LONG, "id": "u"}
    with database.transaction() as session:
        shown = add_rows(session, conversation, None, [user_text(LONG)])
        append_to_latest(session, conversation, {"append": [said]}, shown)
        append_to_latest(session, conversation, {"drop": 1}, ())

        restore_version(session, conversation, 1)

    assert load(database, conversation)[0]["messages"] == [said]
    with database.read() as session:
        rows = AgentStateDeltaRow
        deltas = session.scalars(select(rows.delta).where(rows.conversation_id == conversation))
        assert LONG not in str(deltas.all())


def test_a_fold_of_an_older_version_is_refused(database: Database, conversation: UUID) -> None:
    append(database, conversation, 0, say(0))
    append(database, conversation, 1, say(1))

    with pytest.raises(LeaseLost), database.transaction() as session:
        compact(session, conversation, 1)

    assert len(load(database, conversation)[0]["messages"]) == 2


def test_a_state_says_when_a_fold_is_worth_it(database: Database, conversation: UUID) -> None:
    with database.transaction() as session:
        for number in range(COMPACT_FROM_DELTAS + 1):
            append_delta(session, conversation, number, {"append": [say(number)]})

    with database.transaction() as session:
        stored = load_state(session, conversation)
        assert stored.should_compact
        compact(session, conversation, stored.version)
        assert not load_state(session, conversation).should_compact


def test_dropped_and_rewritten_messages_stay_so(database: Database, conversation: UUID) -> None:
    append(database, conversation, 0, *(say(number) for number in range(6)))
    state, version = load(database, conversation)
    summary = {"role": "user", "content": "so far", "id": "s"}
    shorter = {**state, "messages": [summary, *state["messages"][4:]], "todos": [{"a": 1}]}

    with database.transaction() as session:
        append_delta(session, conversation, version, diff_states(state, shorter))

    assert load(database, conversation)[0] == shorter


def test_a_text_that_people_see_is_stored_once(database: Database, conversation: UUID) -> None:
    said = {"role": "user", "content": LONG, "id": "u"}
    with database.transaction() as session:
        shown = add_rows(session, conversation, None, [user_text(LONG)])
        append_to_latest(session, conversation, {"append": [said]}, shown)

    assert load(database, conversation)[0]["messages"] == [said]
    with database.read() as session:
        rows = AgentStateDeltaRow
        delta = session.scalar(select(rows.delta).where(rows.conversation_id == conversation))
    assert LONG not in str(delta)
    with database.transaction() as session:
        compact(session, conversation, 1)
    assert load(database, conversation)[0]["messages"] == [said]


def test_deleting_a_conversation_deletes_its_state(database: Database, conversation: UUID) -> None:
    append(database, conversation, 0, say(0))

    with database.transaction() as session:
        delete_conversation(session, conversation)

    assert count_deltas(database, conversation) == 0
    with database.read() as session:
        assert session.get(AgentStateRow, conversation) is None
    with pytest.raises(LeaseLost):
        append(database, conversation, 1, say(1))
