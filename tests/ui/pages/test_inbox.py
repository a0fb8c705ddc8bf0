"""The inbox: all calls that wait for a person, over all sessions."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from backend.schemas.approvals import DecisionType
from backend.schemas.conversations.turns import TurnStatus
from tests.ui.pages.chat.test_approval_card import press
from tests.ui.seen import words
from tests.ui.session_list import component


@pytest.fixture
def open_inbox(open_page):
    def open_it():
        return open_page().switch_page("app_pages/inbox.py").run()

    return open_it


@pytest.fixture
def ask(store):
    def ask_in(title, *recipients, **fields):
        turn = store.add_turn(store.add_session(title, **fields), f"Write for {title}")
        store.start(turn)
        return [store.approvals.ask(turn, {"to": to}) for to in recipients]

    return ask_in


def badge(page):
    return next(button.label for button in page.button if button.key == "inbox")


def links(page):
    return [link.proto.label for link in page.get("page_link")]


def test_nothing_waits(open_inbox):
    page = open_inbox()

    assert not page.exception
    assert "Nothing is waiting for a decision." in words(page)
    assert badge(page) == "Inbox"


def test_calls_of_all_sessions_stand_with_where_they_come_from(open_inbox, ask):
    ask("Orders", "ann"), ask("Bills", "bob")

    page = open_inbox()

    assert [link for link in links(page) if "Orders" in link or "Bills" in link] == [
        "**Orders**",
        "**Bills**",
    ]
    assert "Write for Bills" in words(page) and "bob" in words(page)
    assert badge(page) == "Inbox :primary-badge[2]"


def test_a_task_s_call_says_whose_plan_it_is(open_inbox, ask, store):
    ask("Mail it", "ann", parent_id=store.add_session("March").id)
    ask("Mail it", "ann", parent_id=store.add_session("").id)

    named = ["**Mail it** · a task of March", "**Mail it** · a task of New chat"]
    assert [link for link in links(open_inbox()) if "Mail it" in link] == named


def test_the_list_is_drawn_again_when_the_time_beside_a_call_changes(open_inbox, ask, store):
    (approval,) = ask("Orders", "ann")
    soon = datetime.now(UTC) + timedelta(minutes=12, seconds=30)
    store.approvals.items[approval.id] = approval.model_copy(update={"expires_at": soon})

    page = open_inbox()

    assert "expires in 12 min" in words(page)
    assert 0 < json.loads(component(page, "colloquy_timer").json)["seconds"] <= 61


def test_a_call_is_decided_right_there_and_what_came_of_it_stays(open_inbox, store, ask):
    (approval,) = ask("Orders", "ann")
    page = open_inbox()

    press(page, approval, "approve")

    assert store.approvals.decisions[0].type is DecisionType.APPROVE
    assert store.turns[approval.turn_id].status is TurnStatus.SUCCEEDED
    assert "approved by you" in page.expander[0].label
    assert "Nothing is waiting for a decision." in words(page)
    assert badge(page) == "Inbox"


def test_what_is_written_for_one_call_stays_when_another_comes_or_goes(open_inbox, ask):
    first, second = ask("Orders", "ann", "bob")
    page = press(open_inbox(), second, "reject")
    page.text_area(key=f"call-reason-{second.id}").set_value("not to him").run()

    press(page, first, "approve")
    ask("Bills", "cid")
    page.run()

    assert page.text_area(key=f"call-reason-{second.id}").value == "not to him"
    assert "cid" in words(page)


def test_calls_in_the_sessions_of_others_are_shown_to_administrators(open_inbox, store, ask):
    ask("Orders of ada", "ann", owner="ada")
    page = open_inbox()
    assert "Nothing is waiting for a decision." in words(page)

    page.toggle(key="inbox-everyone").set_value(True).run()

    assert "ada · asked at" in words(page)
    assert badge(page) == "Inbox"


def test_members_see_their_own_only(open_inbox, store, ask):
    store.server.permissions = []
    ask("Orders of ada", "ann", owner="ada")

    page = open_inbox()

    assert not page.toggle
    assert "Nothing is waiting for a decision." in words(page)


def test_fifty_stand_on_a_page(open_inbox, ask):
    ask("Orders", *(f"person {number}" for number in range(51)))
    page = open_inbox()
    assert "person 49" in words(page) and "person 50" not in words(page)

    page.button(key="inbox-next").click().run()
    assert "person 50" in words(page) and "person 49" not in words(page)

    page.button(key="inbox-back").click().run()
    assert "person 0" in words(page)
