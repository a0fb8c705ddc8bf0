"""The page on which rights are granted."""

import pytest

from backend.schemas.people.account import Team
from tests.ui.seen import words

CONTROLLERS = Team(id="controllers", name="Controllers")


@pytest.fixture
def accounts(store):
    store.server.has_accounts = True
    store.account.teams = [CONTROLLERS]


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
