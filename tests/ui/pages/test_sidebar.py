"""The sidebar: the list of sessions, search, and each row's menu."""

import json
from datetime import timedelta

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.conversations.turns import TurnStatus
from tests.ui.seen import answered, words
from tests.ui.session_list import act, component, rows, send, shown, titles
from ui.features.sessions import sidebar
from ui.shared.watch.stamp import stamp_of


def test_pinned_sessions_come_first_and_the_rest_by_day(open_page, store):
    store.add_session("Old", age=timedelta(days=40))
    store.add_session("Pinned", age=timedelta(days=90), pinned=True)
    store.add_session("New")

    page = open_page()

    assert titles(page) == ["Pinned", "New", "Old"]
    assert shown(page)["groups"][0]["name"] == "Pinned"


def test_no_session_yet_says_so(open_page):
    assert shown(open_page())["empty"] == "Your conversations will appear here."


def test_a_title_that_changes_while_the_page_is_drawn_is_seen_at_the_next_look(
    open_page, store, monkeypatch
):
    session = store.add_session("Before")
    show = sidebar.show

    def show_and_change(*shown):
        show(*shown)
        store.sessions[session.id] = session.model_copy(update={"title": "After"})

    monkeypatch.setattr(sidebar, "show", show_and_change)

    page = open_page()

    assert titles(page) == ["Before"]
    now = stamp_of(list(store.sessions.values()), None, store.server)
    assert json.loads(component(page, "colloquy_watch").json)["stamp"] != now


def test_search_narrows_by_title(open_page, store):
    store.add_session("Travel costs"), store.add_session("Budget")
    page = open_page()

    page.text_input(key="search").set_value("travel").run()

    assert titles(page) == ["Travel costs"]


def test_search_without_a_hit_says_so(open_page, store):
    store.add_session("Budget")
    page = open_page()

    page.text_input(key="search").set_value("nothing").run()

    assert shown(page)["empty"] == "No session titles match."


def test_a_list_that_cannot_be_read_is_not_called_empty(open_page, store, monkeypatch):
    store.add_session("Budget")
    page = open_page()

    def away(**_):
        raise RuntimeError("the service is away")

    monkeypatch.setattr("tests.ui.fakes.api.SessionPage", away)
    page.text_input(key="search").set_value("nothing").run()

    assert shown(page)["empty"] == "The list cannot be read now."


def test_a_row_opens_its_session(open_page, store):
    session = store.add_session("Chosen")
    answered(store, session)
    page = open_page()

    send(page, act("open", ids=[str(session.id)]))

    assert page.query_params["session"] == str(session.id)
    assert shown(page)["open"] == str(session.id)


def test_what_is_asked_twice_is_done_once(open_page, store):
    session = store.add_session("Once")
    page, rename = open_page(), act("rename", ids=[str(session.id)], title="Twice")
    send(page, rename)
    store.sessions[session.id] = session.model_copy(update={"title": "Since then"})

    send(page, rename, act("pin", ids=[str(session.id)]))

    assert rows(page)[0]["title"] == "Since then"
    assert rows(page)[0]["pinned"]


def test_a_list_in_which_nothing_changed_is_the_same(open_page, store):
    store.add_session("Quiet")
    page = open_page()
    before = shown(page)

    page.run()

    assert shown(page) == before


def test_older_sessions_come_on_demand(open_page, store):
    for number in range(150):
        store.add_session(f"Session {number}", age=timedelta(minutes=number))
    page = open_page()
    assert len(titles(page)) == 30

    for _ in range(2):
        send(page, act("older", cursor=shown(page)["older"]))

    assert titles(page) == [f"Session {number}" for number in range(150)]
    assert shown(page)["older"] is None


def test_an_older_page_is_read_once(open_page, store):
    for number in range(150):
        store.add_session(f"Session {number}", age=timedelta(minutes=number))
    page = open_page()
    cursor = shown(page)["older"]

    send(page, act("older", cursor=cursor), act("older", cursor=cursor))

    assert len(titles(page)) == 130


def test_older_sessions_that_cannot_be_read_can_be_asked_for_again(open_page, store):
    for number in range(150):
        store.add_session(f"Session {number}", age=timedelta(minutes=number))
    page = open_page()
    send(page, act("older", cursor=shown(page)["older"]))
    assert len(titles(page)) == 130

    store.refusal = Problem(title="Service unavailable", status=503, detail="It starts.")
    send(page, act("older", cursor=shown(page)["older"]))
    assert len(titles(page)) == 130
    assert "**Service unavailable.**" in words(page)

    store.refusal = None
    send(page, act("older", cursor=shown(page)["older"]))
    assert len(titles(page)) == 150


def test_older_sessions_stay_when_a_new_one_comes_or_one_of_them_goes(open_page, store):
    sessions = [store.add_session(f"{n}", age=timedelta(minutes=n + 1)) for n in range(50)]
    page = open_page()
    send(page, act("older", cursor=shown(page)["older"]))
    store.add_session("New")

    send(page, act("delete", ids=[str(sessions[40].id)]))

    assert titles(page) == ["New", *(f"{n}" for n in range(50) if n != 40)]


def test_several_are_put_away_though_one_of_them_has_gone(open_page, store):
    gone, put_away = store.add_session("Gone"), store.add_session("Put away")
    store.add_session("Kept")
    page = open_page()
    del store.sessions[gone.id]

    send(page, act("archive", ids=[str(gone.id), str(put_away.id)]))

    assert titles(page) == ["Kept"]
    assert store.sessions[put_away.id].archived


def test_deleting_the_open_session_leads_to_a_new_chat_until_it_is_undone(open_page, store):
    session = store.add_session("Open")
    page = open_page(session=session.id)

    send(page, act("delete", ids=[str(session.id)]))

    assert "session" not in page.query_params
    assert titles(page) == []

    send(page, act("undelete", ids=[str(session.id)]))

    assert titles(page) == ["Open"]


def test_a_cleared_session_is_opened_and_offers_what_was_said_before(open_page, store):
    session = store.add_session("Budget")
    answered(store, session, "First question", "One.")
    page = open_page()

    send(page, act("clear", ids=[str(session.id)]))

    assert page.query_params["session"] == str(session.id)
    assert "the agent starts anew" in words(page)
    assert "First question" not in [text.value for text in page.text]
    page.button(key="show-earlier-branch").click().run()
    assert "First question" in [text.value for text in page.text]
    assert "the agent starts anew" not in words(page)


def test_clearing_while_a_turn_runs_says_why_not(open_page, store):
    session = store.add_session("Budget")
    store.add_turn(session, "slow", TurnStatus.RUNNING)
    page = open_page(session=session.id)

    send(page, act("clear", ids=[str(session.id)]))

    assert "Session busy" in words(page)


def test_a_session_whose_last_turn_failed_is_marked(open_page, store):
    store.add_session("Reconcile", has_failed=True)

    assert rows(open_page())[0]["mark"] == "failed"


@pytest.mark.parametrize(
    ("waits_for", "mark"), [("people", "waiting"), ("tasks", "running"), (None, "running")]
)
def test_only_what_waits_for_a_person_is_marked_as_waiting(open_page, store, waits_for, mark):
    store.add_session("Reconcile", status="waiting", waits_for=waits_for)

    assert rows(open_page())[0]["mark"] == mark


def test_titles_are_one_line_as_they_were_written(open_page, store):
    store.add_session("![x](http://evil) <b>bold</b>\n\u202ered")

    assert titles(open_page()) == ["![x](http://evil) <b>bold</b> red"]


def test_archived_sessions_stand_apart(open_page, store):
    store.add_session("Kept"), store.add_session("Put away", archived=True)
    page = open_page()

    page.button(key="archived").click().run()

    assert titles(page) == ["Put away"]


def test_new_chat_leaves_the_open_session(open_page, store):
    session = store.add_session()
    page = open_page(session=session.id)

    page.button(key="new-chat").click().run()

    assert "session" not in page.query_params


def test_tools_that_wait_for_acceptance_have_a_badge_for_administrators(open_page, store):
    store.server.pending_tools = 2
    page = open_page()

    assert page.button(key="tools-to-accept").label == "Tools to accept :primary-badge[2]"
