"""The chat page over a fake API: empty, filled, running, error, and what keeps it from working."""

from uuid import uuid4

import pytest
from streamlit.testing.v1 import AppTest

from backend.schemas.conversations.sessions import ContentType, MessageStatus, MessageType, Problem
from backend.schemas.conversations.turns import TurnStatus
from ui.shared.text.markdown import plain

QUESTION = "What's the budget for CC-1001?"


def words(page):
    """All that a reader reads."""
    kinds = (
        page.markdown,
        page.text,
        page.caption,
        page.error,
        page.toast,
        page.warning,
        page.info,
        page.title,
    )
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def answered(store, session, question=QUESTION, answer="It is $120,000."):
    turn = store.add_turn(session, question)
    store.start(turn)
    store.add_row(session, MessageType.ASSISTANT, ContentType.TEXT, {"text": answer}, turn)
    store.finish(turn)
    return turn


def failed(store, session):
    turn = store.add_turn(session, QUESTION)
    store.start(turn)
    content = {"title": "Model unavailable", "detail": "Press Retry, or check OPENAI_BASE_URL."}
    store.add_row(session, MessageType.SYSTEM, ContentType.ERROR, content, turn)
    store.finish(turn, TurnStatus.FAILED)
    return turn


def test_the_empty_page_offers_what_its_domain_suggests(open_page, store):
    store.domains.add(suggestions=[QUESTION])
    page = open_page()

    assert not page.exception
    assert page.button(key="example-0").label == plain(QUESTION)
    assert "OPENAI_API_KEY" in words(page)


def test_an_example_is_sent_at_once_and_its_session_is_in_the_url(open_page, store):
    store.domains.add(suggestions=[QUESTION])
    page = open_page()

    page.button(key="example-0").click().run()

    (session,) = store.sessions.values()
    assert page.query_params["session"] == str(session.id)
    assert "$120,000" in words(page)


def test_looking_at_a_new_chat_makes_no_session(open_page, store):
    open_page().run().run()

    assert not store.sessions


def test_a_message_is_sent_from_the_composer(open_page, store):
    session = store.add_session()
    page = open_page(session=session.id)

    page.chat_input[0].set_value("Hello *there*").run()

    assert "Hello *there*" in [text.value for text in page.text]
    assert [turn.message for turn in store.turns.values()] == ["Hello *there*"]


def test_a_pasted_link_opens_its_session(open_page, store):
    store.add_session("Another")
    session = store.add_session("Chosen")
    answered(store, session)

    page = open_page(session=session.id)

    assert QUESTION in words(page)
    assert "\\$120,000" in words(page)


def test_tool_calls_are_cards_and_tables_are_tables(open_page, store):
    session = store.add_session()
    turn = store.add_turn(session, QUESTION)
    store.start(turn)
    call = {"call_id": "c", "name": "query_table", "arguments": {"sql": "SELECT 1"}}
    store.add_row(session, MessageType.ASSISTANT, ContentType.TOOL_CALL, call, turn)
    columns = [{"name": "a", "type": "number"}, {"name": "a", "type": "text"}]
    table = {
        "title": "Budget",
        "columns": columns,
        "rows": [[1, "x"], [2**70, None]],
        "row_count": 120,
        "complete": True,
        "result_id": str(uuid4()),
    }
    content = {"tool_call_id": "c", "name": "query_table", "content": "…", "is_error": False}
    store.add_row(
        session, MessageType.TOOL, ContentType.TOOL_RESULT, content, turn, metadata={"table": table}
    )
    store.finish(turn)

    page = open_page(session=session.id)

    assert not page.exception
    assert "query" in page.expander[0].label
    assert list(page.dataframe[0].value.columns) == ["a", "a (2)"]
    assert "2 of 120 rows" in words(page)


@pytest.mark.parametrize(
    ("status", "icon"),
    [
        ("executing", "spinner"),
        ("completed", ":material/check:"),
        ("failed", ":material/error:"),
        ("stopped", ":material/stop_circle:"),
    ],
)
def test_a_tool_call_shows_how_far_it_is(open_page, store, status, icon):
    session = store.add_session()
    call = {"call_id": "c", "name": "query_table", "arguments": {}}
    store.add_row(
        session, MessageType.ASSISTANT, ContentType.TOOL_CALL, call, status=MessageStatus(status)
    )

    page = open_page(session=session.id)

    assert page.expander[0].icon == icon


def test_messages_in_the_queue_stand_with_their_place(api, store):
    session = store.add_session()
    running = store.add_turn(session, "First")
    store.start(running)
    store.add_turn(session, "Second")
    store.add_turn(session, "Third")

    page = AppTest.from_function(draw_queue, kwargs={"session_id": session.id}).run()

    assert not page.exception
    assert "Waiting: 1 turn before it" in words(page)
    assert "Waiting: 2 turns before it" in words(page)
    assert [text.value for text in page.text] == ["Second", "Third"]


def draw_queue(session_id):
    from ui import state
    from ui.features.chat import composer

    composer.show_queue(state.client().turns(session_id).items[1:])


def test_a_failed_turn_says_why_and_can_be_retried(open_page, store):
    session = store.add_session()
    turn = failed(store, session)
    page = open_page(session=session.id)
    assert "Press Retry" in words(page)

    page.button(key=f"retry-{turn.id}").click().run()

    assert turn.status is TurnStatus.SUCCEEDED
    assert "The budget of **CC-1001**" in words(page)


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
    page = AppTest.from_function(draw_retry, kwargs={"session_id": turn.session_id}).run()
    page.button(key=f"retry-{turn.id}").click().run()
    turn.status = TurnStatus.FAILED

    page.run()

    assert len([call for call in store.calls if call.startswith("POST") and "retry" in call]) == 1
    assert page.button(key=f"retry-{turn.id}").disabled


def draw_retry(session_id):
    from ui import state
    from ui.features.chat import composer

    composer.offer_retry(state.client().messages(session_id).items)


def test_a_stopped_answer_is_marked_once(open_page, store):
    session = store.add_session()
    turn = store.add_turn(session, QUESTION)
    store.start(turn)
    stopped = {"turn": turn, "status": MessageStatus.STOPPED}
    text, notice = {"text": "The budget"}, {"text": "Stopped."}
    store.add_row(session, MessageType.ASSISTANT, ContentType.TEXT, text, **stopped)
    store.add_row(session, MessageType.SYSTEM, ContentType.NOTICE, notice, **stopped)
    store.finish(turn, TurnStatus.STOPPED)

    page = open_page(session=session.id)

    assert "Stopped here" in words(page)
    assert "Stopped." not in words(page)
    assert page.button(key=f"retry-{turn.id}")


def test_a_stopping_turn_says_so_in_every_tab(api, store):
    session = store.add_session()
    turn = store.add_turn(session, QUESTION, stop_requested=True)
    store.start(turn)

    page = AppTest.from_function(draw_composer, kwargs={"session_id": session.id}).run()

    (button,) = [button for button in page.button if button.key == f"stop-{turn.id}"]
    assert (button.label, button.disabled) == ("Stopping", True)


def draw_composer(session_id):
    from ui import state
    from ui.features.chat import composer

    composer.show(session_id, state.client().turns(session_id).items[0])


def test_each_session_has_a_composer_of_its_own(open_page, store):
    one, other = store.add_session("One"), store.add_session("Other")

    first = open_page(session=one.id)
    key = first.chat_input[0].key
    first.query_params["session"] = str(other.id)
    first.run()

    assert first.chat_input[0].key != key


def test_the_composer_of_a_new_chat_stays_when_the_chat_becomes_a_session(open_page, store):
    page = open_page()
    key = page.chat_input[0].key

    page.chat_input[0].set_value("Hello").run()

    assert "session" in page.query_params
    assert page.chat_input[0].key == key


def test_an_answer_is_offered_to_be_copied_and_sent_only_then(open_page, store):
    session = store.add_session()
    answered(store, session, answer="It is **much**.")

    page = open_page(session=session.id)

    assert not page.code


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


def test_a_read_only_page_has_no_composer(open_page, store):
    session = store.add_session(owner="somebody")
    failed(store, session)

    page = open_page(session=session.id, view="read")

    assert not page.chat_input
    assert not [button for button in page.button if button.label == "Retry"]


@pytest.mark.parametrize("turns", [40, 2000])
def test_a_long_session_opens_with_as_few_rows_as_a_short_one(open_page, store, turns):
    session = store.add_session()
    for number in range(turns):
        answered(store, session, f"Question {number}", f"Answer {number}")
    store.calls.clear()

    page = open_page(session=session.id)

    messages = [call for call in store.calls if "/messages" in call]
    assert len(messages) == 1
    assert len(page.chat_message) < 100
    assert f"Answer {turns - 1}" in words(page)


def test_earlier_messages_come_on_demand_and_the_way_back_too(open_page, store):
    session = store.add_session()
    for number in range(200):
        answered(store, session, f"Question {number}", f"Answer {number}")
    page = open_page(session=session.id)
    for _ in range(4):
        page.button(key="earlier").click().run()
        assert len(page.chat_message) <= 200
    assert "Answer 199" not in words(page)

    page.button(key="latest").click().run()

    assert "Answer 199" in words(page)


def test_a_long_answer_is_shown_whole_in_parts_and_a_million_characters_on_demand(open_page, store):
    session = store.add_session()
    paragraphs = [f"Paragraph {number}: " + "word " * 200 for number in range(90)]
    answered(store, session, "x" * 1_000_000, "\n\n".join(paragraphs))

    page = open_page(session=session.id)

    assert all(f"Paragraph {number}:" in words(page) for number in range(90))
    assert max(len(element.value) for element in page.markdown) < 20_000
    assert sum(len(str(text.value)) for text in page.text) == 20_000
    page.button(key=next(b.key for b in page.button if b.label == "Show all")).click().run()
    assert sum(len(str(text.value)) for text in page.text) == 1_000_000
