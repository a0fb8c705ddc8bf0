"""The menu under one's name, and the page of one's own account: sign-ins, tokens, usage."""

from datetime import UTC, datetime, timedelta

import pytest

from backend.schemas.people.account import NewToken, Team
from backend.schemas.people.rights import Allows, Permission, Role
from tests.ui.fakes.account import SECRET, USED, sign_in, token
from tests.ui.seen import words
from ui.features.account.sign_ins import browser_words

SOON = datetime.now(UTC) + timedelta(days=10)


@pytest.fixture
def open_account(open_page, store):
    store.server.has_accounts = True

    def open_it():
        return open_page().switch_page("app_pages/account.py").run()

    return open_it


def labels(page) -> list[str]:
    return [one.label for one in page.button]


def test_the_menu_bears_ones_name_and_leads_to_the_account(open_page, store):
    assert "Sign out here" not in labels(open_page())
    store.server.has_accounts, store.server.name = True, "Ada *Lovelace*"

    page = open_page()
    (menu,) = (one for one in page.get("popover") if "Ada" in one.proto.popover.label)
    page.button(key="account").click().run()

    assert menu.proto.popover.label == r"Ada \*Lovelace\*"
    assert {"Sign out here", "Sign out everywhere"} <= set(labels(page))
    assert page.title[0].value == "Account"


def test_where_nobody_signs_in_there_are_no_accounts(open_page):
    page = open_page().switch_page("app_pages/account.py").run()

    assert "Nobody signs in here" in words(page)
    assert "Create token" not in labels(page)


def test_the_account_says_who_one_is(open_account, store):
    store.account.role = Role.REVIEWER
    store.account.teams = [Team(id="t", name="Finance"), Team(id="u", name="<b>Tax</b>")]

    page = open_account()

    assert page.subheader[0].value == "Ada Lovelace"
    assert "Reviewer: may read the sessions of others" in words(page)
    assert r"Teams: Finance, \<b\>Tax\</b\>" in words(page)
    assert "Your usage today" in [one.value for one in page.subheader]
    assert "By day, domain and model" in [link.proto.label for link in page.get("page_link")]


def test_who_has_no_password_here_changes_none(open_account, store):
    assert "Change password" in labels(open_account())
    store.account.has_password = False

    assert "Change password" not in labels(open_account())


def test_other_sign_ins_are_ended_and_ones_own_is_not_offered(open_account, store):
    own, phone, old = (
        sign_in("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", is_this=True),
        sign_in("Mozilla/5.0 (iPhone; CPU) Version/18.0 Safari/604.1", way="oidc"),
        sign_in("curl/8.5"),
    )
    store.account.sign_ins = [own, phone, old]
    page = open_account()
    assert f"end-{own.id}" not in [one.key for one in page.button]

    page.button(key=f"end-{old.id}").click().run()
    store.account.sign_ins.append(sign_in("a third"))
    store.account.sign_ins.remove(phone)  # it ended elsewhere, and the page does not know yet
    page.button(key=f"end-{phone.id}").click().run()

    assert not page.exception and not page.error
    assert [one.id for one in store.account.sign_ins][:1] == [own.id]
    page.run().button(key=f"end-{store.account.sign_ins[1].id}").click().run()
    assert store.account.sign_ins == [own]


def test_all_others_end_at_once(open_account, store):
    own = sign_in("Firefox/140.0", is_this=True)
    store.account.sign_ins = [own, sign_in("a"), sign_in("b")]

    page = open_account()
    page.button(key="end-others").click().run()

    assert store.account.sign_ins == [own]
    assert "end-others" not in [one.key for one in page.button]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh) Version/18.0 Safari/605.1", "Safari on macOS"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Safari/537.36", "Chrome on Android"),
        ("Firefox/140.0", "Firefox"),
        ("curl/8.5", "Another program"),
        ("", "Another program"),
    ],
)
def test_a_browser_is_named_as_people_call_it(sent, said):
    assert browser_words(sent) == said


def test_a_token_is_shown_once(open_account, store):
    page = open_account()

    page.text_input(key="token-name-0").set_value("  nightly report ")
    page.selectbox(key="token-allows-0").set_value(Allows.READ)
    page.selectbox(key="token-lasts-0").set_value(30)
    create(page)

    assert store.account.asked == [
        NewToken(name="nightly report", allows=Allows.READ, expires_in_days=30)
    ]
    assert [one.value for one in page.code] == [SECRET]
    assert page.text_input(key="token-name-1").value == ""
    page.button(key="token-done").click().run()
    assert not page.code
    assert "nightly report" in words(page)


def test_a_token_needs_a_name(open_account, store):
    page = open_account()

    create(page)

    assert "A token needs a name" in words(page)
    assert not store.account.asked
    page.text_input(key="token-name-0").set_value("report")
    create(page)
    assert len(store.account.asked) == 1


def test_only_who_administers_makes_tokens_without_an_end(open_account, store):
    assert "Does not expire" not in open_account().selectbox(key="token-lasts-0").options
    store.account.permissions = [Permission.MANAGE_PEOPLE]

    assert "Does not expire" in open_account().selectbox(key="token-lasts-0").options


def test_tokens_say_what_they_may_and_when_they_were_used(open_account, store):
    store.account.tokens = [
        token("used", allows=Allows.MANAGE, used_at=USED, expires_at=SOON),
        token("unused", allows=Allows.ASK),
        token("late", expires_at=USED),
    ]

    said = words(open_account())

    assert "**used**  \nEverything that the account may do · expires on " in said
    assert "**unused**  \nAsk · does not expire · not used yet" in said
    assert "late · expired on" in said


def test_a_token_is_revoked_in_two_tabs(open_account, store):
    store.account.tokens = [token("report")]
    key = f"revoke-{store.account.tokens[0].id}"
    first, second = open_account(), open_account()

    first.button(key=key).click().run()
    second.button(key=key).click().run()

    assert store.account.tokens[0].revoked_at == USED
    for page in (first, second):
        assert not page.error
        assert key not in [one.key for one in page.button]
        assert "report · revoked" in words(page)


def create(page) -> None:
    (button,) = (one for one in page.button if one.label == "Create token")
    button.click().run()
