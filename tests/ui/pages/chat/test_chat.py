"""The chat page over a fake API: empty, filled, running, and as long as a session may become."""

from uuid import uuid4

import pytest
from streamlit.testing.v1 import AppTest

from backend.schemas.conversations.turns import TurnStatus
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from tests.ui.seen import QUESTION, answered, failed, html, page_of, words
from ui.shared.text.markdown import plain


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
    assert "$120,000" in words(page)


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

    page = page_of(draw_queue, session_id=session.id)

    assert not page.exception
    assert "Waiting: 1 turn before it" in words(page)
    assert "Waiting: 2 turns before it" in words(page)
    assert [text.value for text in page.text] == ["Second", "Third"]


def draw_queue(session_id):
    from ui import state
    from ui.features.chat import composer

    composer.show_queue(state.client().turns(session_id).items[1:])


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

    page = page_of(draw_composer, session_id=session.id)

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


def test_a_read_only_page_has_no_composer(open_page, store):
    session = store.add_session(owner="somebody")
    failed(store, session)

    def offers(page: AppTest) -> tuple[int, int]:
        return len(page.chat_input), len([one for one in page.button if one.label == "Retry"])

    assert offers(open_page(session=session.id)) == (1, 1)
    assert offers(open_page(session=session.id, view="read")) == (0, 0)


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
    assert max(map(len, html(page))) < 20_000
    assert sum(len(str(text.value)) for text in page.text) == 20_000
    page.button(key=next(b.key for b in page.button if b.label == "Show all")).click().run()
    assert sum(len(str(text.value)) for text in page.text) == 1_000_000


def test_the_next_message_stays_on_the_page_until_a_worker_takes_its_turn(open_page, store):
    session = store.add_session()
    first, second = store.add_turn(session, "the first"), store.add_turn(session, "the second")
    first.status = TurnStatus.SUCCEEDED

    page = open_page(session=session.id)

    assert words(page).count("the second") == 1
    assert [button.label for button in page.button if button.key == f"unqueue-{second.id}"]

    store.ask(second)
    store.start(second)
    page.run()

    assert words(page).count("the second") == 1
    assert not [button for button in page.button if button.key == f"unqueue-{second.id}"]
