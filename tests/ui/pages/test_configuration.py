"""A session's configuration: its image, the drift from its domain, and the way to go on."""

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.domains.configuration import DriftChange
from tests.ui.pages.domains.domain_page import said


@pytest.fixture
def session(store):
    domain = store.domains.add()
    return store.add_session("Closing of March", domain_id=domain.id)


@pytest.fixture
def open_configuration(open_page):
    def open_it(session, **query):
        page = open_page().switch_page("app_pages/configuration.py")
        page.query_params["session"] = str(session.id)
        for name, value in query.items():
            page.query_params[name] = value
        return page.run()

    return open_it


def drifted(store):
    store.domains.drift = store.domains.drift.model_copy(
        update={
            "domain_version": 3,
            "changes": [
                DriftChange(path=["model"], kind="changed", image="a", domain="b"),
                DriftChange(
                    path=["agents", "Anna", "system_prompt"],
                    kind="changed",
                    image="You are Anna.\nBe kind.",
                    domain="You are Anna.\nBe brief.",
                ),
                DriftChange(path=["tools", "get_budget"], kind="removed", image={}),
            ],
        }
    )


def test_no_drift_is_a_quiet_line(open_configuration, session):
    page = open_configuration(session)

    assert not page.exception
    assert "Identical to the domain finance today." in said(page)
    assert [code.value for code in page.code] == ["Be brief."]


def test_drift_is_told_change_by_change(open_configuration, session, store):
    drifted(store)

    page = open_configuration(session)

    text = said(page)
    assert "has changed from version 1 to version 3" in text
    assert "model** changed: a → b" in text
    assert "tools / get_budget** removed" in text.replace("get budget", "get_budget")
    assert page.code[0].value.splitlines() == [" You are Anna.", "-Be kind.", "+Be brief."]


def test_a_session_goes_on_in_a_new_one(open_configuration, session, store):
    drifted(store)
    page = open_configuration(session)

    page.button(key=f"continue-{session.id}").click().run()

    assert not page.exception
    assert store.domains.continued == [str(session.domain_id)]
    assert page.query_params["session"] == str(list(store.sessions)[-1]) != str(session.id)


def test_another_domain_can_be_chosen_to_go_on_with(open_configuration, session, store):
    other = store.domains.add("audit")
    page = open_configuration(session)

    page.selectbox(key=f"continue-in-{session.id}").set_value(str(other.id))
    page.button(key=f"continue-{session.id}").click().run()

    assert store.domains.continued == [str(other.id)]


def test_why_it_cannot_go_on_is_said(open_configuration, session, store):
    page = open_configuration(session)
    store.domains.refusal = Problem(title="Session busy", status=409, detail="Wait for its end.")

    page.button(key=f"continue-{session.id}").click().run()

    assert "Wait for its end." in said(page)


def test_a_deleted_domain_and_a_missing_secret_are_told(open_configuration, session, store):
    store.domains.drift = store.domains.drift.model_copy(
        update={"domain_exists": False, "warnings": ["${COLLOQUY_SECRET_X} is not set here."]}
    )

    text = said(open_configuration(session))

    assert "was deleted" in text
    assert "COLLOQUY_SECRET_X" in text


def test_a_session_that_is_only_read_is_not_continued(open_configuration, session):
    page = open_configuration(session, view="read")

    assert not [button for button in page.button if str(button.key).startswith("continue-")]


def test_without_a_session_the_page_says_where_to_go(open_page):
    page = open_page().switch_page("app_pages/configuration.py").run()

    assert "Open a session first" in said(page)
