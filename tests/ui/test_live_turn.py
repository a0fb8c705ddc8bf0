"""What a turn does, in words, from its rows and events."""

from uuid import uuid4

import pytest

from backend.schemas.approvals import Decision, DecisionType
from backend.schemas.conversations.sessions import EventContext
from backend.schemas.conversations.turns import ModelWait, TurnStatus
from backend.schemas.events import (
    Interrupt,
    MessageAdded,
    MessageUpdated,
    Progress,
    Reset,
    TextDelta,
    read_event,
)
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from tests.patience import ends_within
from tests.ui.fakes.store import Store
from ui.features.chat.live.live_turn import LiveTurn

M1, M2, M3 = uuid4(), uuid4(), uuid4()


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def turn(store):
    turn = store.add_turn(store.add_session(), "How much?")
    store.start(turn)
    return turn


@pytest.fixture
def live(turn):
    return LiveTurn(turn.model_copy(), [])


def tell(live, kind, agent="Analyst", **data):
    turn = live.turn
    context = EventContext(
        domain_id=None,
        session_id=turn.session_id,
        image_id=uuid4(),
        agent_id=agent,
        turn_id=turn.id,
    )
    live.apply(kind(context=context, **data))


def say(live, message_id, text, agent="Analyst"):
    tell(live, TextDelta, agent, message_id=message_id, text=text)


def test_a_reset_takes_back_what_was_said_and_tells_why(live):
    say(live, M1, "The budget is")

    tell(live, Reset, message_id=M1, reason="The connection was lost.")

    assert not live.partial
    assert live.notice.endswith("is being requested again. The connection was lost.")


def test_a_reset_of_another_message_takes_nothing_back(live):
    say(live, M2, "The budget is")

    tell(live, Reset, message_id=M1, reason="The answer broke off.")

    assert list(live.partial) == [M2]


def test_a_reset_of_all_takes_back_what_is_not_stored(live):
    say(live, M1, "The budget is")

    tell(live, Reset, message_id=None, reason="worker lost")
    say(live, M3, "Again")

    assert list(live.partial) == [M3]
    assert not live.notice  # a row of the history tells it


def test_a_turn_that_was_handed_over_says_so(live):
    tell(live, Reset, message_id=None, reason="handed over")

    assert live.notice.startswith("Handed over")


def test_stopping_is_told_as_soon_as_anybody_asks_for_it(live):
    tell(live, Progress, state="stopping")

    assert live.activity == "Stopping"


def test_the_providers_delay_is_counted_down_until_something_comes(turn):
    now = [0.0]
    live = LiveTurn(turn.model_copy(), [], clock=lambda: now[0])
    reason = "The provider is busy."
    tell(live, Progress, state="waiting_for_model", seconds=12, reason=reason)
    now[0] += 5
    assert live.activity == "Waiting for the model's provider: The provider is busy"
    assert live.wait_seconds == 7
    now[0] += 8
    assert live.activity == "Asking the model again"
    assert live.wait_seconds == 0

    say(live, M1, "Here")

    assert live.activity == "Writing"


def test_a_page_that_comes_later_knows_of_the_delay(turn):
    wait = ModelWait(seconds=7.6, reason="It is busy.")

    live = LiveTurn(turn.model_copy(update={"model_wait": wait}), [], clock=lambda: 0.0)

    assert live.activity == "Waiting for the model's provider: It is busy"
    assert live.wait_seconds == 7.6


def test_a_turn_in_the_queue_names_its_place(live):
    live.turn.status, live.turn.queue_position = TurnStatus.QUEUED, 2

    assert live.activity == "Waiting: 2 turns before it"


def test_steps_are_counted_by_message_and_batch(store, turn):
    session = store.sessions[turn.session_id]
    tool = {"call_id": "c", "name": "get_budget", "arguments": {}}
    result = {"tool_call_id": "c", "name": "get_budget", "content": "1", "is_error": False}
    rows = [
        store.add_row(session, MessageType.ASSISTANT, ContentType.THINKING, {"text": "Hm"}, turn),
        store.add_row(session, MessageType.ASSISTANT, ContentType.TOOL_CALL, tool, sequence=1),
        store.add_row(session, MessageType.TOOL, ContentType.TOOL_RESULT, result, turn),
        store.add_row(session, MessageType.TOOL, ContentType.TOOL_RESULT, result, turn),
    ]

    assert LiveTurn(turn, rows[:2]).step == 2
    assert LiveTurn(turn, rows).step == 3


def test_stored_rows_stand_in_for_events_that_do_not_come(store, turn, live):
    say(live, M1, "The budget")
    session = store.sessions[turn.session_id]
    row = store.add_row(
        session, MessageType.ASSISTANT, ContentType.TEXT, {"text": "All"}, turn, id=M1
    )

    told = live.store(turn, [row])

    assert told == [row.id]
    assert not live.partial
    assert [block.row.id for block in live.blocks] == [row.id]


def test_a_stored_row_never_moves_back(store, turn, live):
    session = store.sessions[turn.session_id]
    call = {"call_id": "c", "name": "get_budget", "arguments": {}}
    row = store.add_row(session, MessageType.ASSISTANT, ContentType.TOOL_CALL, call, turn)
    older = row.model_copy(update={"status": MessageStatus.EXECUTING, "id": uuid4()})
    live.store(turn, [row])

    live.store(turn, [older])

    assert live.blocks[0].row.id == row.id


def test_a_turn_that_begins_to_wait_says_for_how_many_and_goes_on_when_all_are_decided(
    store, turn, live
):
    approvals = [store.approvals.ask(turn, {"to": name}) for name in ("ann", "bob")]
    for one in stored_events(store, turn):
        live.apply(one)
    tell(live, Interrupt, turn=turn.model_copy())
    assert live.activity == "Waiting for you: 2 calls to decide"
    assert [row.content["arguments"]["to"] for row in live.waits_for] == ["ann", "bob"]

    for approval in approvals:
        store.approvals.decide(approval, Decision(type=DecisionType.APPROVE))
    for one in stored_events(store, turn):
        if isinstance(one, MessageUpdated):
            live.apply(one)

    assert live.waits_for == []
    assert live.activity == "Continuing"


def stored_events(store, turn):
    events = [read_event(name, data) for name, data in store.events[turn.session_id]]
    return [event for event in events if event.context.turn_id == turn.id]


def test_a_turn_of_many_steps_is_read_again_only_when_a_row_comes(store, turn, live):
    session = store.sessions[turn.session_id]
    for number in range(2_000):
        content = {"todos": [{"content": str(number), "status": "pending"}]}
        store.add_row(session, MessageType.TOOL, ContentType.TODOS, content, turn)
    live.store(turn, store.rows[session.id])

    with ends_within(20):
        for _ in range(20_000):
            say(live, M1, "word ")
            assert len(live.blocks) == 1
            assert live.step == 2


def test_what_a_running_tool_says_stands_beside_its_name(live, store, turn):
    call = {"call_id": "c1", "name": "close_books", "arguments": {}}
    row = store.add_row(
        store.sessions[turn.session_id], MessageType.ASSISTANT, ContentType.TOOL_CALL, call, turn,
        status=MessageStatus.EXECUTING,
    )  # fmt: skip
    tell(live, MessageAdded, message=row)
    before = live.activity

    tell(live, Progress, state="running_tool", call_id="c1", text="3 of 7")
    tell(live, Progress, state="running_tool", call_id="c2", text="of another call")

    assert before == "Running close_books"
    assert live.activity == "Running close_books: 3 of 7"
