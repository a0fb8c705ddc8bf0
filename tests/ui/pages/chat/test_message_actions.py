"""What can be done with a message: edit, another answer, its versions; over a fake API."""

from datetime import UTC, datetime, timedelta

import pytest
from streamlit.testing.v1 import AppTest

from backend.schemas.conversations.turns import Usage
from backend.schemas.usage import TurnFigures
from colloquy_kit.messages.kinds import MessageType
from tests.ui.seen import QUESTION, answered, failed, page_of, words
from ui.features.chat.message_actions import BUSY

FIRST, SECOND = "The first question", "The second question"


def row_of(store, turn):
    """The row that a turn's message is."""
    rows = store.rows[turn.session_id]
    return next(
        row for row in rows if row.turn_id == turn.id and row.message_type is MessageType.USER
    )


def answer_of(store, turn):
    return [row for row in store.rows[turn.session_id] if row.turn_id == turn.id][-1]


def calls(store, ending):
    return [call for call in store.calls if call.startswith("POST") and ending in call]


def begin_edit(page, row):
    page.button(key=f"edit-{row.id}").click().run()
    return next(one for one in page.chat_input if one.key == f"edit-text-{row.id}")


@pytest.fixture
def talk(store):
    """A session of two answered questions."""
    session = store.add_session()
    return session, answered(store, session, FIRST, "One."), answered(store, session, SECOND, "Two")


def test_an_edited_message_begins_another_version(open_page, store, talk):
    session, first, _ = talk
    page = open_page(session=session.id)

    begin_edit(page, row_of(store, first)).set_value("In other words").run()

    assert "In other words" in [text.value for text in page.text]
    assert SECOND not in [text.value for text in page.text]
    assert "$120,000" in words(page)
    assert "2/2" in words(page)


def test_the_text_to_be_edited_stands_in_the_input(open_page, store, talk):
    session, first, _ = talk
    page = open_page(session=session.id)
    asked = begin_edit(page, row_of(store, first))

    assert asked.proto.value == FIRST
    assert FIRST not in [text.value for text in page.text]


def test_an_edit_is_cancelled(open_page, store, talk):
    session, first, _ = talk
    page = open_page(session=session.id)
    row = row_of(store, first)
    begin_edit(page, row)

    page.button(key=f"cancel-{row.id}").click().run()

    assert FIRST in [text.value for text in page.text]
    assert len(page.chat_input) == 1
    assert not calls(store, "/edit")


def test_a_refused_edit_is_kept_and_says_why(api, store, talk):
    session, first, _ = talk
    page = page_of(draw, session_id=session.id)
    asked = begin_edit(page, row_of(store, first))
    store.add_turn(session, QUESTION)

    asked.set_value("In other words").run()

    assert "not finished" in words(page)
    assert page.chat_input[0].proto.value == "In other words"


def test_another_answer_is_asked_for(open_page, store, talk):
    session, first, _ = talk
    page = open_page(session=session.id)

    page.button(key=f"another-{answer_of(store, first).id}").click().run()

    assert "One." not in words(page)
    assert "$120,000" in words(page)
    assert "2/2" in words(page)
    assert len(calls(store, "/retry")) == 1


def test_versions_are_looked_at_and_back(open_page, store, talk):
    session, first, _ = talk
    page = open_page(session=session.id)
    begin_edit(page, row_of(store, first)).set_value("In other words").run()
    new = list(store.turns.values())[-1]

    page.button(key=f"earlier-{row_of(store, new).id}").click().run()

    assert {FIRST, SECOND} <= {text.value for text in page.text}
    assert "1/2" in words(page)
    assert page.button(key=f"earlier-{row_of(store, first).id}").disabled
    page.button(key=f"later-{row_of(store, first).id}").click().run()
    assert "In other words" in [text.value for text in page.text]


def test_nothing_can_be_forked_while_a_turn_runs(api, store, talk):
    session, first, second = talk
    page = page_of(draw, session_id=session.id)
    begin_edit(page, row_of(store, first))
    store.start(store.add_turn(session, QUESTION))

    page.run()

    assert page.chat_input[0].disabled
    edit, again = f"edit-{row_of(store, second).id}", f"another-{answer_of(store, first).id}"
    for button in (page.button(key=edit), page.button(key=again)):
        assert button.disabled
        assert button.help == BUSY


def draw(session_id):
    """The history as it is drawn, without following a turn."""
    from ui import state
    from ui.features.chat import history, message_actions
    from ui.shared import banners

    session = state.client().session(session_id)
    turns = state.client().turns(session_id).items
    page = history.load(session)
    banners.what_happened()
    banners.all_that_apply(state.server())
    actions = message_actions.load(session, turns[0] if turns else None)
    history.show(page, page.items, session, actions)


def test_a_session_that_nobody_forked_is_not_asked_for_versions(open_page, store, talk):
    session, _, _ = talk

    open_page(session=session.id)

    assert not [call for call in store.calls if "/branches" in call]


def test_a_reader_can_change_nothing(open_page, store, talk):
    def changes(page: AppTest) -> set[str]:
        kinds = {(button.key or "").partition("-")[0] for button in page.button}
        return kinds & {"edit", "another"}

    assert changes(open_page(session=talk[0].id)) == {"edit", "another"}
    assert changes(open_page(session=talk[0].id, view="read")) == set()


def test_a_failed_turn_offers_to_go_on_and_nothing_else(open_page, store):
    turn = failed(store, store.add_session())

    page = open_page(session=turn.session_id)

    keys = [button.key or "" for button in page.button]
    assert f"retry-{turn.id}" in keys
    assert not [key for key in keys if key.startswith("another-")]


def test_an_answer_names_its_model_and_what_its_turn_used(open_page, store, talk):
    session, first, second = talk
    ended = datetime(2026, 3, 31, 14, 5, tzinfo=UTC)
    store.usage.figures = [
        TurnFigures(
            turn_id=first.id,
            model="gpt-4o",
            usage=Usage(input_tokens=3214, output_tokens=210),
            seconds=12,
            finished_at=ended,
        )
    ]
    answer_of(store, second).metadata["model_name"] = "o3-mini"

    page = open_page(session=session.id)

    assert any(
        one.value.startswith("gpt\\-4o · ") and one.value.endswith("3,214 tokens in, 210 out")
        for one in page.caption
    )
    assert "o3\\-mini" in [one.value for one in page.caption]


def figures_of(turn):
    ended = datetime(2026, 3, 31, 14, 5, tzinfo=UTC)
    return TurnFigures(turn_id=turn.id, usage=Usage(), seconds=12, finished_at=ended)


def test_an_answer_is_rated_commented_and_the_rating_taken_back(open_page, store, talk):
    session, first, second = talk
    store.usage.figures = [figures_of(first), figures_of(second)]
    page = open_page(session=session.id)
    thumbs = f"feedback-{second.id}"

    page.feedback(key=thumbs).set_value(0).run()
    rated = store.usage.feedback[second.id].rating
    assert "Add a comment" in [one.proto.popover.label for one in page.get("popover")]
    page.feedback(key=thumbs).set_value(None).run()

    assert not page.exception
    assert rated == "down"
    assert store.usage.feedback == {}


def test_who_reviews_a_session_does_not_rate_it(open_page, store, talk):
    session, first, _ = talk
    store.usage.figures = [figures_of(first)]
    session.review_ends_at = datetime.now(UTC) + timedelta(hours=1)

    page = open_page(session=session.id)

    assert not page.get("feedback")


def test_a_proposed_plan_is_agreed_to_in_one_press(open_page, store):
    session = store.add_session()
    turn = answered(store, session, "Reconcile them", "Here is the plan.")
    assert not [one for one in open_page(session=session.id).button if one.label == "Proceed"]
    answer_of(store, turn).metadata["response"] = {"proposesPlan": True}

    page = open_page(session=session.id)
    next(one for one in page.button if one.label == "Proceed").click().run()

    assert [one.message for one in store.turns.values()] == ["Reconcile them", "Proceed"]
    assert not [one for one in page.button if one.label == "Proceed"]


def test_a_message_of_somebody_else_says_whose_it_is(open_page, store, talk):
    session, first, second = talk
    row_of(store, first).metadata["author"] = {"id": "u-1", "name": "Ada *Lovelace*"}
    row_of(store, second).metadata["author"] = {"id": store.server.user, "name": "Myself"}

    page = open_page(session=session.id)

    shown = [one.value for one in page.caption]
    assert r"Ada \*Lovelace\*" in shown
    assert not [one for one in shown if "Myself" in one]
