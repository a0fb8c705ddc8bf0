"""The page Inbox: the browser draws its calls; the page says whose, and the sidebar how many."""

import json

import pytest

from tests.ui.seen import shown_as


@pytest.fixture
def open_inbox(open_page):
    return lambda: open_page().switch_page("app_pages/inbox.py").run()


def test_the_calls_of_everybody_are_for_administrators(open_inbox, store):
    assert json.loads(shown_as(open_inbox(), "inbox").json)["reviews"] == "yes"

    store.server.permissions = []

    assert not json.loads(shown_as(open_inbox(), "inbox").json)["reviews"]


def test_the_sidebar_says_how_many_wait(open_inbox, store):
    turn = store.add_turn(store.add_session("Orders"), "Write")
    store.start(turn)

    def badge():
        return next(button.label for button in open_inbox().button if button.key == "inbox")

    assert badge() == "Inbox"
    for to in ("ann", "bob"):
        store.approvals.ask(turn, {"to": to})
    assert badge() == "Inbox :primary-badge[2]"
