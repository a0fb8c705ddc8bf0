"""Whose a session is, what may be done in it, and with whom it is shared; and the page Grants."""

import pytest

from backend.schemas.people.account import Team
from tests.ui.seen import page_of, words

CONTROLLERS = Team(id="controllers", name="Controllers")


@pytest.fixture
def accounts(store):
    store.server.has_accounts = True
    store.account.teams = [CONTROLLERS]


def labels(page):
    return [button.label for button in page.button]


@pytest.mark.parametrize(
    ("fields", "said", "writes", "shares"),
    [
        ({}, "", True, True),
        ({"team": "controllers", "team_name": "Controllers"}, "Team Controllers", True, True),
        ({"owner": "ann", "owner_name": "Ann", "rights": "continue"}, "Shared by Ann", True, False),
        ({"owner": "ann", "owner_name": "Ann", "rights": "read"}, "Shared by Ann", False, False),
    ],
)
def test_a_session_says_whose_it_is_and_takes_what_may_be_written(
    store, accounts, open_page, fields, said, writes, shares
):
    session = store.add_session(**fields)

    page = open_page(session=session.id)

    assert not page.exception
    assert said in words(page)
    assert ("Shared by" in words(page) or "Team " in words(page)) == bool(said)
    (composer,) = page.chat_input
    assert composer.disabled is not writes
    assert ("ask Ann to share it to continue" in words(page)) is not writes
    assert ("Share" in labels(page)) is shares


def draw_dialog(session_id):
    from ui import state
    from ui.features.sharing import dialog

    state.memory().server = state.client().server()
    dialog.draw(state.client().session(session_id))


def test_a_session_is_shared_and_shared_no_longer(store, accounts, api):
    session = store.add_session()
    page = page_of(draw_dialog, session_id=session.id)

    page.text_input("share-find").set_value("ann").run()
    page.selectbox("share-with").set_value("user:ann").run()
    page.selectbox("share-right").set_value("continue").run()
    page.button("share-add").click().run()

    (grant,) = store.grants.made
    assert (grant.resource_id, grant.principal_id, grant.right) == (
        str(session.id),
        "ann",
        "continue",
    )
    assert "Ann Smith may continue" in words(page)
    page.button("unshare-user-ann").click().run()
    assert store.grants.made == []


def test_a_session_is_given_to_a_team(store, accounts, api):
    session = store.add_session()
    page = page_of(draw_dialog, session_id=session.id)

    page.selectbox(f"team-of-{session.id}").set_value("controllers").run()

    assert session.team == "controllers"


def test_a_new_chat_may_be_a_teams(store, accounts, open_page):
    page = open_page()

    page.selectbox("new-chat-team").set_value("controllers").run()
    page.chat_input[0].set_value("What is it?").run()

    assert store.asked_teams == ["controllers"]


def test_where_nobody_signs_in_there_is_nobody_to_share_with(store, open_page):
    store.account.teams = [CONTROLLERS]
    session = store.add_session()

    new = open_page()
    page = open_page(session=session.id)
    page.button(f"share-{session.id}").click().run()

    assert "new-chat-team" not in [box.key for box in new.selectbox]
    assert "share-add" not in [button.key for button in page.button]
    assert "make-link" in [button.key for button in page.button]


def test_the_page_grants_says_who_may_see_a_thing_and_what_a_person_may_see(
    store, accounts, open_page
):
    domain = store.domains.add("Controlling")
    page = open_page().switch_page("app_pages/administration/grants.py").run()

    page.selectbox("grants-of-domain").set_value(str(domain.id)).run()
    before = words(page)
    page.text_input("grants-find").set_value("ann").run()
    page.selectbox("grants-to").set_value("user:ann").run()
    page.button("grants-add").click().run()

    assert not page.exception
    assert "Everyone** may use this domain" in before
    assert "Granted to: **Ann Smith**" in words(page)
    assert "3 own, 2 of teams, 1 shared" in words(page) and "Source bpc" in words(page)
    page.button("grant-user-ann-use").click().run()
    assert store.grants.made == []
