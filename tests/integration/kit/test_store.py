"""The store's functions, on PostgreSQL and SQLite."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from sqlalchemy import update

from colloquy_kit.messages.state import empty_state
from colloquy_kit.store import conversations, messages, states, steps
from colloquy_kit.store.errors import NewerState, NotAllowed, NotBound, NotFound, StaleVersion
from colloquy_kit.store.search import search
from colloquy_kit.store.tables import Sessions
from tests.integration.kit.host import TABLES, AgentState, Conversation, DisplayMessage, Host

pytestmark = pytest.mark.parametrize("host", ["postgresql", "sqlite"], indirect=True)
CALL = {"name": "note", "args": {"text": "a"}, "id": "call-1"}


def state_of(*texts: str):
    said = [{"role": "user", "content": text, "id": str(uuid4())} for text in texts]
    return {**empty_state(), "messages": said}


def test_what_belongs_to_another_is_not_found(host: Host):
    mine = host.new(1, title="Mine")
    (row,) = host.run(messages.save_message, mine, HumanMessage("hello", id="m"), user_id=1)
    for function, *arguments in (
        (conversations.get_conversation, mine),
        (conversations.update_conversation, mine, {"title": "Theirs"}),
        (conversations.delete_conversation, mine),
        (states.save_agent_state, mine, empty_state()),
        (states.load_agent_state, mine),
        (states.export_state, mine),
        (steps.save_step, mine, [], empty_state()),
        (messages.append_display_message, mine, "user", "text", {"text": "x"}),
        (messages.append_display_messages, mine, []),
        (messages.save_message, mine, HumanMessage("x")),
        (messages.change_status, row.id, "failed"),
        (messages.load_display_messages, mine),
        (messages.clear_display_messages, mine),
    ):
        with pytest.raises(NotFound):
            host.run(function, *arguments, user_id=2)
    assert host.run(conversations.list_conversations, user_id=2) == []
    assert host.run(search, "hello", user_id=2) == []
    assert host.run(conversations.delete_older_than, 0, user_id=2) == 0

    assert host.run(conversations.get_conversation, mine, user_id=1).title == "Mine"
    assert host.run(states.load_agent_state, mine).found == "not_found"
    assert len(host.run(messages.load_display_messages, mine, user_id=1)) == 1


def test_a_change_of_what_was_changed_meanwhile_is_refused(host: Host):
    own = host.new(1, title="One")
    change = conversations.update_conversation

    changed = host.run(change, own, {"title": "Two", "metadata": {"pinned": True}}, version=1)

    assert (changed.title, changed.metadata_, changed.version) == ("Two", {"pinned": True}, 2)
    with pytest.raises(StaleVersion):
        host.run(change, own, {"title": "Three"}, version=1)
    with pytest.raises(NotAllowed, match="user_id"):
        host.run(change, own, {"user_id": 2})


def test_lists_are_read_by_pages_in_the_order_that_is_asked_for(host: Host):
    user = int(uuid4()) % 1_000_000_000
    made = [host.new(user, title=title) for title in ("b", "c", "a")]

    def page(**options):
        return host.run(conversations.list_conversations, user_id=user, limit=2, **options)

    first = page(order_by="title")
    assert [one.title for one in first] == ["a", "b"]
    assert [one.title for one in page(order_by="title", after=first[-1])] == ["c"]
    latest = page()
    assert [one.id for one in latest] == made[:0:-1]
    assert [one.id for one in page(after=latest[-1])] == made[:1]
    with pytest.raises(NotAllowed):
        page(order_by="state_data")


def test_a_state_is_saved_only_over_the_version_that_was_loaded(host: Host):
    own = host.new()
    assert host.run(states.load_agent_state, own).version == 0

    first = host.run(states.save_agent_state, own, {**state_of("a"), "agent_id": "x"}, version=0)

    with pytest.raises(StaleVersion, match="at version 1, not 0"):
        host.run(states.save_agent_state, own, state_of("b"), version=0)
    loaded = host.run(states.load_agent_state, own)
    assert (loaded.found, loaded.version, first) == ("stored", 1, 1)
    assert loaded.state["messages"][0]["content"] == "a"
    assert "agent_id" not in host.run(states.export_state, own)


def test_an_unreadable_state_begins_anew_and_is_kept(host: Host):
    own = host.new()
    host.run(states.save_agent_state, own, state_of("a"))
    broken = {"version": 1, "messages": [{"role": "nobody"}]}
    with host.sessions.transaction() as session:
        session.execute(
            update(AgentState).where(AgentState.conversation_id == own).values(state_data=broken)
        )

    loaded = host.run(states.load_agent_state, own)

    assert (loaded.found, loaded.state) == ("unreadable", empty_state())
    (notice,) = host.run(messages.load_display_messages, own)
    assert notice.metadata_["unreadable_state"] == broken
    host.run(states.save_agent_state, own, state_of("b"), version=loaded.version)
    assert host.run(states.load_agent_state, own).found == "stored"


def test_a_state_of_a_newer_kit_is_left_alone(host: Host):
    own = host.new()
    host.run(states.save_agent_state, own, state_of("a"))
    newer = {"version": 99, "messages": []}
    with host.sessions.transaction() as session:
        session.execute(
            update(AgentState).where(AgentState.conversation_id == own).values(state_data=newer)
        )

    with pytest.raises(NewerState):
        host.run(states.load_agent_state, own)

    assert host.run(states.export_state, own) == newer


def test_a_message_becomes_rows_once_and_its_result_ends_the_call(host: Host):
    own = host.new()
    asked = AIMessage(
        "I note it.\x00",
        id="ai",
        tool_calls=[CALL],
        additional_kwargs={"reasoning_content": "hm"},
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
    )
    for message in (HumanMessage("do", id="h"), asked, asked):
        host.run(messages.save_message, own, message)
    rows = host.run(messages.load_display_messages, own)
    assert [(row.content_type, row.sequence, row.status) for row in rows] == [
        ("text", 0, "completed"),
        ("thinking", 0, "completed"),
        ("text", 1, "completed"),
        ("tool_call", 2, "executing"),
    ]
    assert "\x00" not in rows[2].content["text"]
    assert rows[1].metadata_["usage"]["total_tokens"] == 7

    host.run(
        messages.save_message, own, ToolMessage("no", id="t", tool_call_id="call-1", status="error")
    )

    call, result = host.run(messages.load_display_messages, own)[3:]
    assert (call.status, call.content) == ("failed", rows[3].content)
    assert result.content["is_error"] is True


def test_a_status_moves_forward_only(host: Host):
    own = host.new()
    row = host.run(
        messages.append_display_message,
        own,
        "assistant",
        "tool_call",
        {"name": "x"},
        status="pending",
    )

    for status in ("executing", "completed", "completed"):
        assert host.run(messages.change_status, row.id, status).status == status

    for status in ("executing", "failed"):
        with pytest.raises(NotAllowed, match="is completed cannot become"):
            host.run(messages.change_status, row.id, status)


def test_messages_are_read_by_pages_and_cleared(host: Host):
    own = host.new()
    for number in range(5):
        host.run(messages.append_display_message, own, "user", "text", {"text": str(number)})

    page = host.run(messages.load_display_messages, own, limit=2)
    earlier = host.run(messages.load_display_messages, own, limit=2, before=page[0])

    assert [row.content["text"] for row in (*earlier, *page)] == ["1", "2", "3", "4"]
    host.run(states.save_agent_state, own, state_of("a"))
    assert host.run(messages.clear_display_messages, own) == 5
    assert host.run(messages.load_display_messages, own) == []
    assert host.run(states.load_agent_state, own).found == "stored"


def test_titles_and_texts_are_found_by_all_their_words(host: Host):
    user = int(uuid4()) % 1_000_000_000
    own, other = host.new(user, title="Rent 100%"), host.new(user, title="Food")
    host.run(messages.save_message, other, HumanMessage("what is the RENT of 1000 rooms?"))

    assert [
        (hit.conversation.id, hit.message) for hit in host.run(search, "100%", user_id=user)
    ] == [(own, None)]
    both = host.run(search, "rent", user_id=user)
    assert [hit.conversation.id for hit in both] == [own, other]
    assert host.run(search, "rooms rent", user_id=user)[0].text == "what is the RENT of 1000 rooms?"
    with pytest.raises(NotAllowed):
        host.run(search, " ")


def test_old_conversations_are_deleted_with_all_they_have(host: Host):
    user = int(uuid4()) % 1_000_000_000
    old, new = host.new(user), host.new(user)
    host.run(steps.save_step, old, [HumanMessage("a", id="a")], state_of("a"))
    with host.sessions.transaction() as session:
        long_ago = datetime.now(UTC) - timedelta(days=31)
        session.execute(
            update(Conversation).where(Conversation.id == old).values(updated_at=long_ago)
        )

    assert host.run(conversations.delete_older_than, user_id=user) == 1

    assert [c.id for c in host.run(conversations.list_conversations, user_id=user)] == [new]
    with host.sessions.transaction() as session:
        for table in (AgentState, DisplayMessage):
            assert session.query(table).filter_by(conversation_id=old).count() == 0


def test_two_writers_at_once_lose_nothing_and_agree_on_the_order(host: Host):
    own = host.new()
    together = Barrier(2)

    def write(writer: str) -> None:
        together.wait()
        for number in range(20):
            said = AIMessage(f"{writer} {number}", additional_kwargs={"reasoning_content": "hm"})
            host.run(messages.save_message, own, said)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))

    rows = host.run(messages.load_display_messages, own)
    assert len(rows) == 80
    assert [row.sequence for row in rows] == [0, 1] * 40
    assert len({row.inserted_at for row in rows}) == 40
    for writer in "ab":
        said = [row.content["text"] for row in rows if row.content["text"].startswith(writer)]
        assert said == [f"{writer} {number}" for number in range(20)]


def test_of_two_savers_at_once_one_is_told(host: Host):
    own = host.new()
    together = Barrier(2)

    def save(text: str) -> str:
        together.wait()
        try:
            said = HumanMessage(text, id=text)
            host.run(steps.save_step, own, [said], state_of(text), version=0)
        except StaleVersion:
            return "stale"
        return text

    with ThreadPoolExecutor(2) as pool:
        told = set(pool.map(save, ("a", "b")))

    assert "stale" in told
    (winner,) = told - {"stale"}
    (shown,) = host.run(messages.load_display_messages, own)
    assert shown.content["text"] == winner
    assert host.run(states.export_state, own)["messages"][0]["content"] == winner


def test_a_session_of_the_host_decides_what_is_kept(host: Host):
    own = host.new(title="Before")
    with host.sessions.transaction() as outer:
        with host.sessions.transaction(outer) as session:
            conversations.update_conversation(
                session, TABLES, Conversation.id == own, own, {"title": "After"}
            )
        outer.rollback()

    assert host.run(conversations.get_conversation, own).title == "Before"
    with pytest.raises(NotBound), Sessions().transaction():
        pass
