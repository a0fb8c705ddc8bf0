"""A chat that failed, is gone or lacks a part of the service says so, and what to do."""

from uuid import uuid4

from backend.schemas.conversations.sessions import Problem
from backend.schemas.conversations.turns import TurnStatus
from colloquy_kit.messages.kinds import ContentType, MessageType
from tests.ui.seen import QUESTION, failed, page_of, words


def test_a_failed_turn_says_why_and_can_be_retried(open_page, store):
    session = store.add_session()
    turn = failed(store, session)
    page = open_page(session=session.id)
    assert "Press Retry" in words(page)

    page.button(key=f"retry-{turn.id}").click().run()

    assert turn.status is TurnStatus.SUCCEEDED
    assert "The budget of CC-1001" in words(page)


def test_a_session_whose_state_is_unreadable_offers_to_rebuild_it(open_page, store):
    session = store.add_session()
    turn = store.add_turn(session, QUESTION)
    store.start(turn)
    content = {"title": "Corrupt state", "detail": "It is unreadable. Rebuild it."}
    offer = {"metadata": {"offer": "rebuild"}}
    store.add_row(session, MessageType.SYSTEM, ContentType.ERROR, content, turn, **offer)
    store.finish(turn, TurnStatus.FAILED)
    page = open_page(session=session.id)

    page.button(key=f"rebuild-{session.id}").click().run()

    assert "was rebuilt from the messages above" in words(page)
    assert page.button(key=f"retry-{turn.id}")


def test_a_retry_that_was_clicked_twice_is_asked_once(api, store):
    store.answers = False
    turn = failed(store, store.add_session())
    page = page_of(draw_retry, session_id=turn.session_id)
    page.button(key=f"retry-{turn.id}").click().run()
    turn.status = TurnStatus.FAILED

    page.run()

    assert len([call for call in store.calls if call.startswith("POST") and "retry" in call]) == 1
    assert page.button(key=f"retry-{turn.id}").disabled


def draw_retry(session_id):
    from ui import state
    from ui.features.chat import composer

    composer.offer_retry(state.client().messages(session_id).items)


def test_a_missing_session_says_what_to_do(open_page, store):
    page = open_page(session=uuid4())

    assert "Session not found" in words(page)


def test_a_broken_link_says_so_and_a_new_chat_can_begin(open_page, store):
    page = open_page(session="nonsense")

    assert "does not point to a session" in words(page)
    assert page.chat_input


def test_without_a_worker_the_page_says_how_to_start_one(open_page, store):
    store.server.workers, store.server.ready, store.server.missing = 0, False, ["worker"]

    assert "make worker" in words(open_page())


def test_without_redis_the_page_says_that_only_live_updates_pause(open_page, store):
    store.server.ready, store.server.missing = False, ["redis", "worker"]

    said = words(open_page())

    assert "Live updates pause; what you send is kept and runs" in said
    assert "make worker" not in said


def test_without_the_database_the_page_says_what_is_kept(open_page, store):
    store.server.ready, store.server.missing = False, ["database"]

    assert "The database does not answer" in words(open_page())


def test_without_a_model_the_page_says_how_to_name_one(open_page, store):
    store.server.model, store.server.is_demo_model = "", False

    assert "No model is configured" in words(open_page())


def test_without_the_service_the_page_says_how_to_start_it(open_page, monkeypatch):
    monkeypatch.setenv("API_URL", "http://127.0.0.1:9")

    page = open_page()

    assert not page.exception
    assert "The service does not answer" in words(page)


def test_a_message_that_could_not_be_sent_keeps_its_key(open_page, store):
    session = store.add_session()
    page = open_page(session=session.id)
    sent = []
    store.refusal = Problem(title="Database unavailable", status=503, detail="Try again.")
    page.chat_input[0].set_value("Important").run()
    store.refusal = None
    page.run()
    sent.append(page.session_state["memory"].send_key)

    page.chat_input[0].set_value("Important").run()

    assert list(store.keys) == sent
