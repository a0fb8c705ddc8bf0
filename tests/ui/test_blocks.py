"""How stored rows and events become what is drawn."""

from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest

from backend.schemas.conversations.turns import TurnStatus
from backend.schemas.events import MessageAdded, Reset, TextDelta, read_event
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from tests.patience import ends_within
from tests.ui.fakes.store import Store
from ui.features.chat.live.live_turn import LiveTurn
from ui.features.chat.messages.blocks import seconds_taken, split_current, to_blocks, to_groups
from ui.shared.formats.times import day_group, duration, grouped, moment


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def session(store):
    return store.add_session()


def call(store, session, call_id, turn=None, **fields):
    content = {"call_id": call_id, "name": "lookup", "arguments": {}}
    return store.add_row(
        session, MessageType.ASSISTANT, ContentType.TOOL_CALL, content, turn, **fields
    )


def result(store, session, call_id, text, turn=None):
    content = {"tool_call_id": call_id, "name": "lookup", "content": text, "is_error": False}
    return store.add_row(session, MessageType.TOOL, ContentType.TOOL_RESULT, content, turn)


def text(store, session, words, turn=None, by=MessageType.ASSISTANT, **fields):
    return store.add_row(session, by, ContentType.TEXT, {"text": words}, turn, **fields)


def test_a_call_and_its_result_are_one_card(store, session):
    call(store, session, "a"), call(store, session, "b")
    result(store, session, "b", "2"), result(store, session, "a", "1")

    blocks = to_blocks(store.rows[session.id])

    assert [block.result.content["content"] for block in blocks] == ["1", "2"]


def test_a_question_belongs_to_its_call_also_where_call_ids_come_again(store, session):
    for answer in ("first", "second"):
        call(store, session, "same")
        content = {"call_id": "same", "name": answer}
        store.add_row(session, MessageType.SYSTEM, ContentType.INTERRUPT, content)
        result(store, session, "same", answer)

    blocks = to_blocks(store.rows[session.id])

    assert [block.asked.content["name"] for block in blocks] == ["first", "second"]


def test_reused_call_ids_pair_in_order(store, session):
    for answer in ("first", "second"):
        call(store, session, "same")
        result(store, session, "same", answer)

    blocks = to_blocks(store.rows[session.id])

    assert [block.result.content["content"] for block in blocks] == ["first", "second"]


def test_a_result_without_its_call_is_shown_by_itself(store, session):
    result(store, session, "gone", "text")

    assert len(to_blocks(store.rows[session.id])) == 1


def test_groups_follow_the_speaker(store, session):
    text(store, session, "ask", by=MessageType.USER)
    call(store, session, "a"), result(store, session, "a", "1"), text(store, session, "answer")
    text(store, session, "again", by=MessageType.USER)

    groups = to_groups(store.rows[session.id])

    assert [(group.is_user, len(group.blocks)) for group in groups] == [
        (True, 1),
        (False, 2),
        (True, 1),
    ]


def test_the_active_turns_rows_are_drawn_by_the_live_part(store, session):
    turn = store.add_turn(session, "ask")
    text(store, session, "answer", turn)

    settled, current = split_current(store.rows[session.id], turn.id)

    assert [row.content["text"] for row in settled] == ["ask"]
    assert [row.content["text"] for row in current] == ["answer"]


def test_a_calls_time_is_known_from_its_metadata(store, session):
    call(store, session, "a", metadata={"seconds": 2})

    assert seconds_taken(to_blocks(store.rows[session.id])[0]) == 2


def events_of(store, session):
    return [read_event(name, data) for name, data in store.events[session.id]]


def take(live, events):
    for event in events:
        if event.context.turn_id == live.turn.id:
            live.apply(event)


def test_deltas_join_until_the_stored_row_takes_their_place(store, session):
    turn = store.add_turn(session, "ask")
    store.start(turn)
    live = LiveTurn(turn, [])
    message_id = uuid4()
    for part in ("Hel", "lo"):
        store.publish(turn, TextDelta, message_id=message_id, text=part)
    take(live, events_of(store, session))
    assert list(live.partial) == [message_id]

    seen = len(store.events[session.id])
    text(store, session, "Hello", turn, id=message_id)
    take(live, events_of(store, session)[seen:])

    assert not live.partial
    assert [block.row.content["text"] for block in live.blocks] == ["Hello"]


def test_a_replay_shows_nothing_twice(store, session):
    turn = store.add_turn(session, "ask")
    store.start(turn)
    message_id = uuid4()
    store.publish(turn, TextDelta, message_id=message_id, text="Stored")
    stored = text(store, session, "Stored", turn, id=message_id)
    live = LiveTurn(turn, [stored])

    for event in events_of(store, session):
        take(live, [event])
        assert not live.partial
    store.publish(turn, TextDelta, message_id=uuid4(), text="New")
    take(live, events_of(store, session)[-1:])

    assert len(live.partial) == 1
    assert len(live.blocks) == 1


def test_a_model_asked_again_begins_its_text_again(store, session):
    turn = store.add_turn(session, "ask")
    live = LiveTurn(turn, [])
    broken, whole = uuid4(), uuid4()
    store.publish(turn, TextDelta, message_id=broken, text="Broken off")
    store.publish(turn, Reset, message_id=broken, reason="The answer broke off.")
    store.publish(turn, TextDelta, message_id=whole, text="Whole")

    take(live, events_of(store, session))

    assert list(live.partial) == [whole]


def test_a_status_never_moves_back(store, session):
    turn = store.add_turn(session, "ask")
    done = call(store, session, "a", turn, status=MessageStatus.COMPLETED)
    live = LiveTurn(turn, [done])
    old = done.model_copy(update={"status": MessageStatus.EXECUTING})
    store.publish(turn, MessageAdded, message=old)

    take(live, events_of(store, session)[-1:])

    assert live.blocks[0].row.status is MessageStatus.COMPLETED


def test_the_end_of_the_turn_is_noticed(store, session):
    turn = store.add_turn(session, "ask")
    store.start(turn)
    live = LiveTurn(turn, [])
    store.finish(turn, TurnStatus.STOPPED)

    take(live, events_of(store, session))

    assert live.is_finished


def test_sessions_stand_by_day_with_the_pinned_first(store):
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    ages = {"today": 0, "yesterday": 1, "week": 5, "month": 20, "autumn": 60, "old": 500}
    rows = [
        store.add_session(name, updated_at=now - timedelta(days=age)) for name, age in ages.items()
    ]
    rows.append(store.add_session("pinned", pinned=True, updated_at=now - timedelta(days=900)))

    names = [name for name, _ in grouped(rows, now)]

    assert names == [
        "Pinned",
        "Today",
        "Yesterday",
        "Previous 7 days",
        "Previous 30 days",
        "September",
        "July 2025",
    ]


def test_times_are_said_the_way_people_do():
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)

    assert [duration(s, "en") for s in (0.4, 12, 185, 7800)] == [
        "0.4 s",
        "12 s",
        "3 min 5 s",
        "2 h 10 min",
    ]
    assert moment(now - timedelta(days=1), now) == "Yesterday 12:00"
    assert day_group(date(2026, 11, 21), date(2026, 11, 20)) == "Today"


def wrote_todos(store, session, *statuses, turn=None, error=False):
    """A call of write_todos, its result, and the row that it makes."""
    content = {"call_id": "w", "name": "write_todos", "arguments": {}}
    store.add_row(session, MessageType.ASSISTANT, ContentType.TOOL_CALL, content, turn)
    said = {"tool_call_id": "w", "name": "write_todos", "content": "Updated", "is_error": error}
    store.add_row(session, MessageType.TOOL, ContentType.TOOL_RESULT, said, turn)
    if not error:
        todos = [{"content": f"step {n}", "status": status} for n, status in enumerate(statuses)]
        store.add_row(session, MessageType.TOOL, ContentType.TODOS, {"todos": todos}, turn)


def test_only_the_newest_list_of_todos_of_a_turn_is_drawn(store, session):
    first, second = store.add_turn(session, "one"), store.add_turn(session, "two")
    wrote_todos(store, session, "in_progress", turn=first)
    call(store, session, "a", first)
    result(store, session, "a", "found", first)
    wrote_todos(store, session, "completed", turn=first)
    wrote_todos(store, session, "pending", turn=second)

    blocks = to_blocks(row for row in store.rows[session.id] if row.turn_id)
    drawn = [block.row for block in blocks if block.row.message_type is not MessageType.USER]

    assert [row.content_type for row in drawn] == [
        ContentType.TOOL_CALL,
        ContentType.TODOS,
        ContentType.TODOS,
    ]
    assert drawn[0].content["name"] == "lookup"
    assert [row.content["todos"][0]["status"] for row in drawn[1:]] == ["completed", "pending"]


def test_a_failed_try_to_write_todos_stays_on_the_page(store, session):
    turn = store.add_turn(session, "one")
    wrote_todos(store, session, turn=turn, error=True)
    wrote_todos(store, session, "pending", turn=turn)

    kinds = [block.row.content_type for block in to_blocks(store.rows[session.id])]

    assert kinds.count(ContentType.TOOL_CALL) == 1


def test_thousands_of_todo_lists_are_read_at_once(store, session):
    turn = store.add_turn(session, "go")
    row = store.add_row(session, MessageType.TOOL, ContentType.TODOS, {"todos": []}, turn)
    said = text(store, session, "So.", turn)
    lists = [row.model_copy(update={"id": uuid4()}) for _ in range(15_000)]

    with ends_within(20):
        blocks = to_blocks(one for todos in lists for one in (said, todos))

    assert [block.row.id for block in blocks[-2:]] == [said.id, lists[-1].id]
    assert len(blocks) == len(lists) + 1
