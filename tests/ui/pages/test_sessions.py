"""The administrators' page of all sessions."""

from datetime import timedelta

import pytest

from backend.schemas.conversations.turns import TurnStatus


@pytest.fixture
def open_sessions(open_page):
    def open_it():
        page = open_page()
        return page.switch_page("app_pages/administration/sessions.py").run()

    return open_it


def test_an_empty_installation_says_so(open_sessions):
    page = open_sessions()

    assert not page.exception
    assert "No sessions yet" in page.info[0].value


def test_all_owners_sessions_are_listed(open_sessions, store):
    store.add_session("Mine"), store.add_session("Theirs", owner="ada")

    table = open_sessions().dataframe[0].value

    assert set(table["Owner"]) == {"local", "ada"}
    assert {"Title", "Status", "Turns", "Last activity"} <= set(table.columns)


def test_running_sessions_can_be_picked_out(open_sessions, store):
    store.add_session("Idle"), store.add_session("Busy", status=TurnStatus.RUNNING)
    page = open_sessions()

    page.button_group(key="all-status").set_value("running").run()

    assert list(page.dataframe[0].value["Title"]) == ["Busy"]


def test_a_search_without_a_hit_says_what_to_do(open_sessions, store):
    store.add_session("Budget")
    page = open_sessions()

    page.text_input(key="all-title").set_value("nothing").run()

    assert "Remove a filter" in page.info[0].value


def test_pages_follow_the_cursor_and_lead_back(open_sessions, store):
    for number in range(60):
        store.add_session(f"Session {number}", age=timedelta(minutes=number))
    page = open_sessions()

    page.button(key="sessions-next").click().run()
    assert len(page.dataframe[0].value) == 10
    page.button(key="sessions-back").click().run()

    assert len(page.dataframe[0].value) == 50


def test_others_are_told_that_it_is_for_administrators(open_sessions, store):
    store.server.permissions = []

    page = open_sessions()

    assert "administrators" in page.info[0].value
    assert not page.dataframe
