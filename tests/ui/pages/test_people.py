"""The administrators' pages of people, teams and the audit trail."""

from datetime import UTC, datetime

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.people.people import Mailed
from tests.ui.seen import downloads, words

LAST = Problem(title="Last administrator", status=409, detail="Nobody else could administer then.")


@pytest.fixture
def open_admin(open_page, store):
    store.server.has_accounts = True

    def open_it(name):
        return open_page().switch_page(f"app_pages/administration/{name}.py").run()

    return open_it


def choose(page, row=0):
    """Choose a row of the page's table."""
    table = page.dataframe[0]
    page.session_state[table.key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    return page.run()


@pytest.mark.parametrize("name", ["people", "teams", "audit"])
def test_members_are_told_whom_to_ask(open_admin, store, name):
    store.server.permissions = []

    assert "for administrators" in words(open_admin(name))


@pytest.mark.parametrize("name", ["people", "teams", "audit"])
def test_where_nobody_signs_in_there_is_nobody_to_manage(open_admin, store, name):
    store.server.has_accounts = False

    page = open_admin(name)

    assert "AUTH=local" in words(page)
    assert not [button for button in page.button if button.key == name]


@pytest.mark.parametrize("name", ["people", "teams", "audit"])
def test_a_service_that_is_away_is_told(open_admin, store, name):
    page = open_admin(name)
    store.refusal = Problem(title="Database unavailable", status=503, detail="Try again.")

    page.run()

    assert "Database unavailable" in words(page)


def test_everybody_is_listed_with_their_state_and_teams(open_admin, store):
    store.people.add("Ada", role="admin", teams=["sales"], seen_at=datetime.now(UTC))
    store.people.add("Bob", is_invited=True)
    store.people.add("Eve", disabled_at=datetime.now(UTC))
    store.people.add("Robot", is_service=True, login=None)
    store.people.add_team("Sales", "ada")

    table = open_admin("people").dataframe[0].value

    assert list(table["State"]) == ["Active", "Invited", "Disabled", "Service account"]
    assert table["Role"][0] == "Administrator"
    assert table["Teams"][0] == "Sales"


def test_people_are_found_and_paged(open_admin, store):
    for number in range(60):
        store.people.add(f"Person {number}")
    page = open_admin("people")

    page.button(key="people-next").click().run()
    assert len(page.dataframe[0].value) == 10
    page.text_input(key="people-search").set_value("Person 7").run()

    assert list(page.dataframe[0].value["Name"]) == ["Person 7"]
    page.text_input(key="people-search").set_value("nobody").run()
    assert "Nobody matches" in words(page)


def test_an_invitation_link_is_shown_once_to_copy(open_admin, store):
    page = open_admin("people")
    page.button(key="invite").click().run()
    page.text_input(key="new-name").set_value("Grace")

    page.button(key="send-invitation").click().run()

    (link,) = [code.value for code in page.code]
    assert link.endswith("/sign-in/link/cql_once")
    assert "will not be shown again" in words(page)
    assert [one.name for one in store.people.people.values()] == ["Grace"]


def test_a_mail_that_failed_is_told_beside_the_link(open_admin, store):
    store.people.mailed = Mailed(to="g@example.com", problem="The mail server does not answer.")
    page = open_admin("people")
    page.button(key="invite").click().run()
    page.text_input(key="new-name").set_value("Grace")

    page.button(key="send-invitation").click().run()

    assert "could not be mailed to" in words(page)
    assert page.code


def test_an_invitation_that_is_refused_says_why_and_keeps_what_was_typed(open_admin, store):
    store.people.refusal = Problem(title="Login taken", status=409, detail="Choose another one.")
    page = open_admin("people")
    page.button(key="invite").click().run()
    page.text_input(key="new-name").set_value("Grace")

    page.button(key="send-invitation").click().run()

    assert "Login taken" in words(page) and not page.code
    assert page.text_input(key="new-name").value == "Grace"


def test_a_service_account_is_made_without_a_link(open_admin, store):
    page = open_admin("people")
    page.button(key="make-account").click().run()
    page.text_input(key="new-name").set_value("Robot")

    page.button(key="send-account").click().run()

    assert [one.is_service for one in store.people.people.values()] == [True]
    assert not page.code and "Robot was created" in words(page)


def test_disabling_says_what_it_ends_and_is_asked_for_twice(open_admin, store):
    store.people.add("Eve")
    page = choose(open_admin("people"))

    page.button(key="disable-eve").click().run()

    assert "running and queued turns" in words(page)
    assert store.people.people["eve"].disabled_at is None
    page.button(key="disable-person").click().run()
    assert store.people.people["eve"].disabled_at is not None
    assert "Eve is disabled" in words(page)


def test_the_last_administrator_stays_one(open_admin, store):
    store.people.add("Ada", role="admin")
    page = choose(open_admin("people"))
    store.people.refusal = LAST

    page.selectbox(key="role-ada").set_value("member")
    page.button(key="save-ada").click().run()

    assert "Nobody else could administer then" in words(page)


def test_only_what_was_changed_is_sent(open_admin, store):
    store.people.add("Ada", email="ada@example.com", organisation="Desk")
    page = choose(open_admin("people"))

    page.text_input(key="email-ada").set_value("")
    page.button(key="save-ada").click().run()

    ada = store.people.people["ada"]
    assert (ada.email, ada.organisation, ada.name) == (None, "Desk", "Ada")
    assert "Ada was saved" in words(page)


def test_a_reset_link_is_shown_once(open_admin, store):
    store.people.add("Ada")
    page = choose(open_admin("people"))

    page.button(key="link-ada").click().run()

    assert page.code[0].value.endswith("/sign-in/link/cql_reset")


def test_a_token_of_a_service_account_is_shown_once_and_revoked(open_admin, store):
    store.people.add("Robot", is_service=True)
    page = choose(open_admin("people"))
    page.text_input(key="token-name-0").set_value("nightly")

    next(one for one in page.button if one.label == "Create token").click().run()

    assert page.code[0].value == "cqt_once"
    (token,) = store.people.tokens
    page = choose(open_admin("people"))
    page.button(key=f"revoke-{token.id}").click().run()
    assert token.revoked_at is not None and "revoked" in words(page)


def test_a_team_is_made_and_gets_members(open_admin, store):
    store.people.add("Ada")
    page = open_admin("teams")
    assert "no teams yet" in words(page)
    page.text_input(key="team-name").set_value("Sales")
    page.button(key="make-team").click().run()

    page = choose(page)
    page.text_input(key="find-member-sales").set_value("ad").run()
    page.button(key="add-ada").click().run()

    assert store.people.teams["sales"].members == ["ada"]
    assert "Its id" in words(page)
    page.button(key="remove-ada").click().run()
    assert store.people.teams["sales"].members == []


def test_a_team_that_owns_sessions_is_not_deleted(open_admin, store):
    store.people.add_team("Sales")
    page = choose(open_admin("teams"))
    page.button(key="delete-team").click().run()
    assert "cannot be deleted" in words(page)
    store.people.refusal = Problem(title="Team owns sessions", status=409, detail="Move them.")

    page.button(key="confirm-delete").click().run()

    assert "Team owns sessions" in words(page) and "sales" in store.people.teams


def test_the_trail_is_empty_then_filled_and_filtered(open_admin, store):
    page = open_admin("audit")
    assert "Nothing matches" in words(page) and not page.dataframe
    store.people.add_event("signed_in")
    store.people.add_event("sign_in_failed", actor="", actor_name=None, details={"way": "local"})
    page.run()

    table = page.dataframe[0].value
    page.selectbox(key="audit-action").set_value("signed_in").run()

    assert list(table["Who"]) == ["not signed in", "Ada"]
    assert list(table["Action"]) == ["sign in failed", "signed in"]
    assert list(table["Details"]) == ["way: local", ""]
    assert list(page.dataframe[0].value["Action"]) == ["signed in"]
    links = downloads(page)
    assert links["Download as CSV"] == "audit/export?action=signed_in&format=csv"
    assert links["Download as JSON lines"] == "audit/export?action=signed_in&format=jsonl"
