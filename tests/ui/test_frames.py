"""What a browser is told of a session while it watches, from the session's events."""

from uuid import uuid4

import pytest
import streamlit as st

from backend.schemas.conversations.sessions import EventContext
from backend.schemas.conversations.turns import ErrorSummary, ModelWait, TurnStatus
from backend.schemas.events import (
    Interrupt,
    MessageAdded,
    Reset,
    TaskUpdated,
    TextDelta,
    ThinkingDelta,
    TurnFinished,
    TurnQueued,
    TurnStarted,
)
from backend.schemas.tasks import TaskStatus
from colloquy_kit.messages.kinds import ContentType, MessageType
from tests.ui.fakes.store import Store
from ui.features.chat.live.frames import SessionFrames, TaskFrames

M1, M2 = uuid4(), uuid4()


@pytest.fixture(autouse=True)
def no_page(monkeypatch):
    """Frames are made in the events' route, where no script runs that knows the reader."""

    def locale(_):
        raise AssertionError("no reader is known here")

    monkeypatch.setattr(type(st.context), "locale", property(locale))


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def turn(store):
    turn = store.add_turn(store.add_session(), "How much?")
    store.start(turn)
    return turn


def context(turn, agent="Analyst"):
    return EventContext(
        domain_id=None,
        session_id=turn.session_id,
        image_id=uuid4(),
        agent_id=agent,
        turn_id=turn.id,
    )


def say(turn, message_id, text, agent="Analyst"):
    return TextDelta(context=context(turn, agent), message_id=message_id, text=text)


def stored(store, turn, message_id):
    session = store.sessions[turn.session_id]
    content = {"text": "Whole"}
    row = store.add_row(
        session, MessageType.ASSISTANT, ContentType.TEXT, content, turn, id=message_id
    )
    return MessageAdded(context=context(turn), message=row)


def news(text):
    return {"kind": "news", "text": text}


def told(frames):
    return [(frame["kind"], frame.get("id"), frame.get("text")) for frame in frames]


def test_pieces_of_one_message_are_joined_and_speakers_kept_apart(turn):
    view = SessionFrames(turn)
    thought = ThinkingDelta(context=context(turn), message_id=M1, text="Hm")

    frames = view.apply(
        [thought, say(turn, M1, "The "), say(turn, M1, "budget"), say(turn, M2, "It", "Auditor")]
    )

    assert told(frames) == [
        ("thinking", str(M1), "Hm"),
        ("text", str(M1), "The budget"),
        ("text", str(M2), "It"),
    ]
    assert [frame["agent"] for frame in frames] == ["Analyst", "Analyst", "Auditor"]


def test_what_is_stored_does_not_stream_again(store, turn):
    view = SessionFrames(turn)

    frames = view.apply([say(turn, M1, "The"), stored(store, turn, M1), say(turn, M1, "The")])

    assert told(frames) == [("text", str(M1), "The"), ("stored", str(M1), None)]


def test_what_was_said_in_vain_is_taken_back(turn):
    view = SessionFrames(turn)
    reset = Reset(context=context(turn), message_id=M1, reason="It broke off.")
    again = TurnStarted(context=context(turn), turn=turn)

    frames = view.apply([say(turn, M1, "The"), reset, again])

    assert told(frames)[1:] == [
        ("void", str(M1), None),
        ("void", None, None),
        ("changed", None, None),
    ]
    (status,) = view.status()
    assert status["notice"].endswith("It broke off.")


def test_a_turn_that_begins_while_a_page_is_idle_is_followed_at_once(store, turn):
    view = SessionFrames(None)
    assert view.status() == []

    frames = view.apply(
        [
            TurnQueued(context=context(turn), turn=turn),
            TurnStarted(context=context(turn), turn=turn),
            say(turn, M1, "The"),
        ]
    )

    assert frames[-1]["text"] == "The"
    assert view.is_active
    assert view.status()[0]["text"].startswith("Writing…")


def test_the_end_of_a_turn_is_told_and_nothing_more_is_said_of_it(turn):
    view = SessionFrames(turn)
    assert view.status()[0]["text"].startswith("Thinking…")
    done = turn.model_copy(update={"status": TurnStatus.SUCCEEDED})

    frames = view.apply([TurnFinished(context=context(turn), turn=done)])

    assert frames == [{"kind": "ended", "turn": str(turn.id)}, news("The answer is ready.")]
    assert [(one["text"], one["notice"]) for one in view.status()] == [("", "")]
    assert not view.is_active


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"status": TurnStatus.STOPPED}, []),
        (
            {"status": TurnStatus.FAILED, "error": ErrorSummary(title="Key refused", detail="…")},
            ["It failed: Key refused."],
        ),
    ],
)
def test_a_failure_is_news_and_what_a_person_has_stopped_is_none(turn, end, words):
    frames = SessionFrames(turn).apply(
        [TurnFinished(context=context(turn), turn=turn.model_copy(update=end))]
    )

    assert frames[1:] == [news(text) for text in words]


def test_the_time_until_the_next_try_is_a_detail_that_is_not_read_out(turn):
    wait = ModelWait(seconds=7.6, reason="It is busy.")
    view = SessionFrames(turn.model_copy(update={"model_wait": wait}))

    (status,) = view.status()

    assert status["text"] == "Waiting for the model's provider: It is busy…"
    assert status["details"].startswith(" · next try in 8 s · ")


def test_the_next_turn_in_the_queue_is_followed_when_it_begins(store, turn):
    view = SessionFrames(turn)
    later = store.add_turn(store.sessions[turn.session_id], "And then?")
    view.apply([TurnQueued(context=context(later), turn=later)])
    assert view.apply([say(turn, M1, "The")])

    view.apply([TurnFinished(context=context(turn), turn=turn)])
    view.apply([TurnStarted(context=context(later), turn=later)])

    assert view.apply([say(later, M2, "Then")])[0]["turn"] == str(later.id)


def test_a_wait_for_people_is_drawn_by_the_page(turn):
    view = SessionFrames(turn)
    waiting = turn.model_copy(update={"status": TurnStatus.WAITING})

    assert view.apply([Interrupt(context=context(turn), turn=waiting)]) == [
        {"kind": "changed"},
        news("It waits for your decision."),
    ]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"status": TaskStatus.ASKING}, ["It waits for your decision."]),
        (
            {"status": TaskStatus.RUNNING, "waiting_for_approval": True},
            ["It waits for your decision."],
        ),
        ({"status": TaskStatus.RUNNING}, []),
        ({"status": TaskStatus.SUCCEEDED}, []),
    ],
)
def test_a_task_that_waits_for_a_person_is_news(store, turn, state, words):
    plan = store.plans.start(turn, {"t1": ()})
    task = store.plans.update(plan, "t1", **state)
    view = SessionFrames(turn)

    frames = view.apply([TaskUpdated(context=context(turn), task=task)])

    assert frames == [{"kind": "changed"}, *(news(text) for text in words)]


def test_what_no_event_told_comes_from_what_is_stored(store, turn):
    view = SessionFrames(turn)
    added = stored(store, turn, M1)

    assert view.store([turn], [added.message]) == [{"kind": "stored", "id": str(M1)}]
    assert view.store([turn], [added.message]) == []
    assert view.store([], []) == [{"kind": "ended", "turn": str(turn.id)}, news("It has ended.")]


def test_a_service_that_is_away_is_named_in_place_of_what_a_turn_does(turn):
    view, idle = SessionFrames(turn), SessionFrames(None)

    view.is_away = idle.is_away = True
    [told], [told_of_no_turn] = view.status(), idle.status()

    assert "does not answer" in told["text"]
    assert (told_of_no_turn["text"], told_of_no_turn["away"]) == ("", True)
    assert idle.status() == []


def test_what_a_task_says_is_told_until_it_is_stored_and_taken_back_with_it():
    words, said = TaskFrames("Compare"), {"turn": "t", "agent": "Analyst", "text": "So "}
    first, second = ({"kind": "text", "id": str(one), **said} for one in (M1, M2))
    gone = [{"kind": "void", "id": str(one)} for one in (M1, M2)]
    status = {"kind": "status", "text": "Answering…", "notice": "", "away": False}

    assert words.apply([status, first, first | {"kind": "thinking"}, {"kind": "changed"}]) == [
        first | {"task": "Compare"}
    ]
    assert words.apply([{"kind": "stored", "id": str(M1)}, {"kind": "stored", "id": "row"}]) == [
        gone[0]
    ]
    assert words.apply([first, second, {"kind": "ended", "turn": "t"}])[2:] == gone
    assert words.apply([second, {"kind": "begin"}, first])[1:] == [
        gone[1],
        first | {"task": "Compare"},
    ]
    assert words.take_back() == [gone[0]]
    assert words.take_back() == []
