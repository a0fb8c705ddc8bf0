"""The administrators' page of the providers that people sign in with."""

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.people.providers import GroupMeaning, ProviderSource, ProviderTest
from tests.ui.seen import words

LAST = Problem(title="Last way in", status=409, detail="No administrator could sign in then.")
SECRET = "canary-secret-77"


@pytest.fixture
def open_it(open_page, store):
    store.server.has_accounts = True

    def open_signing_in(chosen=None):
        page = open_page().switch_page("app_pages/administration/signing_in.py").run()
        return page.selectbox(key="provider").set_value(chosen).run() if chosen else page

    return open_signing_in


def field(page, name, of=""):
    return page.text_input(key=f"provider-{name}-{of}")


def secret(page, of="", times=0):
    return page.text_input(key=f"provider-client_secret-{of}-{times}")


def shown(page):
    """Every text on the page, in fields, too."""
    return words(page) + "".join(str(one.value) for one in [*page.text_input, *page.success])


def test_members_are_told_whom_to_ask(open_it, store):
    store.server.permissions = []

    assert "for administrators" in words(open_it())


def test_where_nobody_signs_in_there_is_nothing_to_set(open_it, store):
    store.server.has_accounts = False

    page = open_it()

    assert "AUTH=local" in words(page)
    assert not [one for one in page.text_input if "provider" in one.key]


def test_a_service_that_is_away_is_told(open_it, store):
    page = open_it()
    store.refusal = Problem(title="Database unavailable", status=503, detail="Try again.")

    page.run()

    assert "Database unavailable" in words(page)


def test_what_auth_allows_is_told(open_it, store):
    assert "a name and a password; or the providers below" in words(open_it())
    store.providers.ways = ["local", "proxy"]

    page = open_it()

    assert "TRUSTED_PROXIES" in words(page)
    assert "AUTH does not name `oidc`" in words(page)


def test_a_provider_is_added_and_its_secret_is_gone_from_the_page(open_it, store):
    page = open_it()
    assert page.code[0].value.endswith("/sign-in/oidc/<id>/answer")
    field(page, "id").set_value("company").run()
    assert page.code[0].value.endswith("/sign-in/oidc/company/answer")
    field(page, "name").set_value("Example Ltd")
    field(page, "issuer").set_value(" https://login.example.com ")
    field(page, "client_id").set_value("colloquy")
    secret(page).set_value(SECRET)

    page.button(key="save-provider").click().run()

    assert store.providers.sent == [
        {
            "id": "company",
            "name": "Example Ltd",
            "issuer": "https://login.example.com",
            "client_id": "colloquy",
            "client_secret": SECRET,
            "scopes": "openid profile email",
            "groups_claim": None,
            "admits_new": True,
        }
    ]
    assert "Example Ltd was saved" in shown(page)
    assert SECRET not in shown(page)
    assert "provider-client_secret--0" not in page.session_state
    assert page.selectbox(key="provider").value == "company"
    assert secret(page, "company", 1).placeholder.startswith("Stored")
    assert list(page.dataframe[0].value["Secret"]) == ["stored"]


def test_only_what_was_changed_is_sent(open_it, store):
    store.providers.add("company")
    page = open_it("company")

    field(page, "name", "company").set_value("Another")
    page.checkbox(key="provider-admits_new-company").uncheck()
    page.button(key="save-provider").click().run()

    assert store.providers.sent == [{"name": "Another", "admits_new": False}]
    page.checkbox(key="provider-no_secret-company-1").check()
    page.button(key="save-provider").click().run()
    assert store.providers.sent[1:] == [{"client_secret": ""}]


def test_what_is_refused_is_said_with_the_labels_and_what_was_typed_stays(open_it, store):
    store.providers.refusal = Problem(
        title="Invalid", status=422, detail="issuer: this must begin with https://"
    )
    page = open_it()
    for name in ("id", "name", "client_id"):
        field(page, name).set_value("company")
    field(page, "issuer").set_value("https://elsewhere.example.com")

    page.button(key="save-provider").click().run()

    assert "Issuer&#58; this must begin with" in words(page)
    assert field(page, "issuer").value == "https://elsewhere.example.com"


@pytest.mark.parametrize("is_usable", [True, False])
def test_a_test_saves_nothing_and_says_what_it_found(open_it, store, is_usable):
    store.providers.add("company")
    store.providers.test = ProviderTest(is_usable=is_usable, detail="So it is.")
    page = open_it("company")
    field(page, "client_id", "company").set_value("other")
    secret(page, "company").set_value(SECRET)

    page.button(key="test-provider").click().run()

    assert store.providers.sent == [
        {
            "id": "company",
            "issuer": "https://company.example.com",
            "client_id": "other",
            "client_secret": SECRET,
        }
    ]
    found = page.success if is_usable else page.error
    assert ["So it is" in one.value for one in found] == [True]
    assert store.providers.known["company"].client_id == "colloquy"


def test_the_environments_provider_is_shown_and_tested_only(open_it, store):
    store.providers.add("fixed", source=ProviderSource.ENVIRONMENT, groups_claim="g")
    page = open_it("fixed")

    assert "OIDC_PROVIDERS" in words(page)
    assert all(one.disabled for one in page.text_input if one.key.startswith("provider-"))
    buttons = {one.key for one in page.button}
    assert "test-provider" in buttons
    assert not buttons & {"save-provider", "remove-provider"}
    page.button(key="test-provider").click().run()
    assert store.providers.sent[0]["id"] == "fixed"
    assert "client_secret" not in store.providers.sent[0]


def test_a_provider_is_removed_after_a_second_question(open_it, store):
    store.providers.add("company")
    page = open_it("company")
    page.button(key="remove-provider").click().run()

    assert "is signed out" in words(page)
    assert "company" in store.providers.known
    page.button(key="remove").click().run()
    assert not store.providers.known
    assert "Company was removed" in shown(page)


def test_the_last_way_in_stays(open_it, store):
    store.providers.add("company")
    page = open_it("company")
    page.button(key="remove-provider").click().run()
    store.providers.refusal = LAST

    page.button(key="remove").click().run()

    assert "No administrator could sign in then" in words(page)
    assert "company" in store.providers.known


def test_groups_mean_teams_and_roles(open_it, store):
    store.people.add_team("Sales")
    store.providers.add("company", groups_claim="groups", groups={"old": GroupMeaning(team="gone")})
    page = open_it("company")
    assert list(page.dataframe[1].value["Team"]) == ["a deleted team"]

    page.text_input(key="provider-group-company").set_value("money").run()
    page.selectbox(key="provider-group-company-team-money").set_value("sales")
    page.selectbox(key="provider-group-company-role-money").set_value("reviewer")
    page.button(key="save-group").click().run()

    money = {"team": "sales", "role": "reviewer"}
    assert store.providers.sent == [
        {"groups": {"old": {"team": "gone", "role": None}, "money": money}}
    ]
    table = page.dataframe[1].value
    assert (list(table["Team"]), list(table["Role"])) == (
        ["a deleted team", "Sales"],
        ["", "Reviewer"],
    )
    page.text_input(key="provider-group-company").set_value("old").run()
    page.button(key="remove-group").click().run()
    assert store.providers.sent[1:] == [{"groups": {"money": money}}]


def test_without_a_claim_groups_mean_nothing_and_a_group_means_something(open_it, store):
    store.providers.add("plain")
    assert "Name the claim" in words(open_it("plain"))
    store.providers.add("company", groups_claim="groups")
    page = open_it("company")
    page.text_input(key="provider-group-company").set_value("money").run()

    page.button(key="save-group").click().run()

    assert "Choose a team, a role, or both" in words(page)
    assert not store.providers.sent
