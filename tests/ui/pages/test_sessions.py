"""The reviewers' page of everyone's sessions, and reading one with a reason."""

from datetime import timedelta

import pytest

from backend.schemas.conversations.sessions import SessionFigures
from backend.schemas.conversations.turns import TurnStatus
from tests.ui.seen import downloads

FIGURES = SessionFigures(
    team="Sales", agent="Analyst", tokens=1_200, cost=0.5, errors=1, thumbs_up=2, thumbs_down=1
)
NONE = SessionFigures(team=None, agent=None, tokens=0, cost=0, errors=0, thumbs_up=0, thumbs_down=0)


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
    store.server.has_accounts = True
    store.add_session("Mine"), store.add_session("Theirs", owner="ada")

    table = open_sessions().dataframe[0].value

    assert set(table["Owner"]) == {"local", "ada"}


def test_a_row_says_what_was_used_and_how_it_went(open_sessions, store):
    store.server.has_accounts = True
    store.add_session("Theirs", owner="ada", owner_name="Ada", turn_count=3, figures=FIGURES)
    store.add_session("New", owner="bob", figures=NONE, age=timedelta(minutes=1))

    theirs, new = open_sessions().dataframe[0].value.to_dict("records")

    shown = {name: theirs[name] for name in ("Owner", "Team", "Domain", "Agent", "Status")}
    assert shown == {
        "Owner": "Ada", "Team": "Sales", "Domain": "finance", "Agent": "Analyst", "Status": "Idle",
    }  # fmt: skip
    figures = [theirs[name] for name in ("Turns", "Tokens", "Cost", "Errors", "Feedback")]
    assert figures == [3, 1_200, 0.5, 1, "2 up, 1 down"]
    assert "up" not in str(new["Feedback"])


@pytest.mark.parametrize(
    ("choose", "shown"),
    [
        (lambda page: page.text_input(key="all-owner").set_value("ada"), "Theirs"),
        (lambda page: page.toggle(key="all-errors").set_value(True), "Theirs"),
        (lambda page: page.toggle(key="all-disliked").set_value(True), "Theirs"),
        (lambda page: page.toggle(key="all-archived").set_value(True), "Old"),
    ],
)
def test_each_filter_leaves_what_matches(open_sessions, store, choose, shown):
    store.server.has_accounts = True
    store.add_session("Theirs", owner="ada", figures=FIGURES)
    store.add_session("Mine", figures=NONE), store.add_session("Old", archived=True, figures=NONE)
    page = open_sessions()
    assert set(page.dataframe[0].value["Title"]) == {"Theirs", "Mine"}

    choose(page).run()

    assert list(page.dataframe[0].value["Title"]) == [shown]


def test_the_days_of_the_reader_are_asked_for(open_sessions, store):
    store.add_session("Mine", figures=NONE)
    page = open_sessions()

    page.date_input(key="all-days").set_value(("2026-11-01", "2026-11-02")).run()

    (asked,) = [call for call in store.calls if "since=" in call]
    assert "since=2026-11-01T00" in asked and "until=2026-11-03T00" in asked


def test_the_list_is_a_file_and_leads_to_the_search_in_messages(open_sessions, store):
    store.add_session("Mine", figures=NONE)

    page = open_sessions()

    assert downloads(page)["Download as CSV"] == "sessions/csv"
    (link,) = [one for one in page.get("page_link") if "of-everyone" in one.proto.query_string]
    assert "Search in messages" in link.proto.label


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
