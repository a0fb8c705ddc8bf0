"""The pages where people come in by a provider or a proxy: the real servers, a scripted provider.

The browser is played by a client that keeps cookies as one does, and follows redirects by hand.
"""

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest

from backend.auth.tokens import digest
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.processes import free_port
from tests.servers.oidc import OidcProvider
from tests.stack import Servers, Stack

FOLLOWED = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
TYPED, REDIRECTED = {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "cross-site"}
OWN = {"Sec-Fetch-Site": "same-origin"}
VISIT = "colloquy-visit"


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcProvider]:
    with OidcProvider(name="Ada Lovelace") as running:
        yield running


@pytest.fixture(scope="module")
def desk(
    servers: Servers,
    model: ScriptedModel,
    provider: OidcProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    """A stack in which people come in by each way; this machine is the trusted proxy."""
    settings = {
        "AUTH": "local,oidc,proxy",
        "OIDC_PROVIDERS": json.dumps({"company": provider.settings(name="Example & Sons")}),
        "TRUSTED_PROXIES": "127.0.0.1",
        "PAGES_KEY": "a key that only pages and API know",
        "UI_PORT": str(free_port()),
    }
    home = tmp_path_factory.mktemp("elsewhere")
    with make_stack(servers, model, home, **settings) as running:
        yield running


@pytest.fixture(scope="module")
def url(desk: Stack) -> str:
    flags = ("--trusted-proxies=127.0.0.1", "--identity-headers=X-Person,X-Mail,X-Name,X-Groups")
    return desk.start_ui(*flags, port=int(desk.environment["UI_PORT"]))


def visitor(url: str, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={**FOLLOWED, **TYPED, **headers}, timeout=30)


def go(browser: httpx.Client, path: str = "/sign-in/oidc/company") -> str:
    """Go to the provider, and return the address there."""
    answer = browser.get(path)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def come_back(browser: httpx.Client, at: OidcProvider, place: str, **changed: Any) -> Any:
    """Sign in at the provider, and bring its answer, changed, to the address it redirects to."""
    answer = {**at.sign_in(place), **changed}
    given = {name: value for name, value in answer.items() if value is not None}
    redirect = parse_qs(urlsplit(place).query)["redirect_uri"][0]
    return browser.get(redirect, params=given, headers=REDIRECTED)


def who(browser: httpx.Client) -> str | None:
    answer = browser.get("/colloquy/person")
    return answer.text if answer.status_code == 200 else None


def account(desk: Stack, browser: httpx.Client) -> Any:
    bearer = {"Authorization": f"Bearer {browser.cookies['colloquy']}"}
    return desk.client.get("/account", headers=bearer).json()


def invite(desk: Stack) -> Any:
    """Have an administrator invite somebody."""
    token = f"cqt_{uuid4().hex}"
    desk.query_and_commit(
        "INSERT INTO users (id, name, role, is_service) VALUES ('robot', 'Robot', 'admin', true)"
        " ON CONFLICT DO NOTHING"
    )
    desk.query_and_commit(
        "INSERT INTO api_tokens (id, user_id, token_hash, name, allows)"
        " VALUES (:id, 'robot', :hash, 'invites', 'manage')",
        id=uuid4(),
        hash=digest(token),
    )
    bearer = {"Authorization": f"Bearer {token}"}
    invited = desk.client.post("/people", json={"name": "Grace"}, headers=bearer)
    assert invited.status_code == 201, invited.text
    return invited.json()


def printed(desk: Stack, monkeypatch: pytest.MonkeyPatch, auth: str) -> str:
    """Return what the start prints for the first administrator with these ways of signing in."""
    monkeypatch.setitem(desk.environment, "AUTH", auth)
    status, said = desk.run("-m", "backend.people.first_admin")
    assert status == 0, said
    return said


def test_the_sign_in_page_offers_each_provider(url: str) -> None:
    page = visitor(url).get("/sign-in?next=/data").text

    assert "Continue with Example &amp; Sons" in page
    assert 'href="/sign-in/oidc/company?next=%2Fdata"' in page
    assert 'name="password"' in page


def test_a_person_comes_back_from_a_provider_to_where_they_wanted_to_go(
    desk: Stack, url: str, provider: OidcProvider
) -> None:
    browser = visitor(url)
    place = go(browser, "/sign-in/oidc/company?next=/data%3Fa%3D%C3%A9")
    (cookie,) = (one for one in browser.cookies.jar if one.name == VISIT)
    answer = come_back(browser, provider, place)

    assert (answer.status_code, answer.headers["location"]) == (303, "/data?a=%C3%A9")
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "lax"
    assert 0 < (cookie.expires or 0) - time.time() <= 600
    assert account(desk, browser)["name"] == "Ada Lovelace"
    assert who(browser) == account(desk, browser)["user_id"]
    assert browser.get("/sign-in").headers["location"] == "/"


@pytest.mark.parametrize("place", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_nobody_is_sent_on_to_another_site(url: str, provider: OidcProvider, place: str) -> None:
    browser = visitor(url)
    begun = go(browser, str(httpx.URL("/sign-in/oidc/company", params={"next": place})))

    assert come_back(browser, provider, begun).headers["location"] == "/"


def test_an_answer_counts_once_and_only_where_it_was_begun(
    url: str, provider: OidcProvider
) -> None:
    victim, attacker = visitor(url), visitor(url)
    begun = go(attacker)
    go(victim)
    for name, browser in (("visiting", victim), ("never there", visitor(url))):
        refused = come_back(browser, provider, begun, code="of the attacker")
        assert refused.status_code == 401, name
        assert "in another browser" in refused.text, name
        assert who(browser) is None, name

    own = visitor(url)
    place = go(own)
    answer = provider.sign_in(place)
    redirect = parse_qs(urlsplit(place).query)["redirect_uri"][0]
    assert own.get(redirect, params=answer).status_code == 303
    again = own.get(redirect, params=answer)
    assert (again.status_code, "was used before" in again.text) == (401, True)


def test_an_answer_may_reach_another_server_of_the_pages(
    desk: Stack, url: str, provider: OidcProvider
) -> None:
    browser, other = visitor(url), desk.start_ui()
    place = go(browser, "/sign-in/oidc/company?next=/data")
    redirect = parse_qs(urlsplit(place).query)["redirect_uri"][0]
    assert redirect.startswith(url)

    answer = browser.get(
        redirect.replace(url, other), params=provider.sign_in(place), headers=REDIRECTED
    )

    assert (answer.status_code, answer.headers["location"]) == (303, "/data")
    assert who(browser) == account(desk, browser)["user_id"]


def test_several_tabs_are_at_a_provider_at_once(url: str, provider: OidcProvider) -> None:
    browser = visitor(url)
    begun = [go(browser) for _ in range(2)]

    assert [come_back(browser, provider, one).status_code for one in begun] == [303, 303]


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("not from the provider that was asked", {"iss": "https://attacker.example"}),
        ("did not let you in, or you cancelled", {"code": None, "error": "access_denied"}),
        ("did not accept the code", {"code": "stolen"}),
        ("cannot be read", {"state": None}),
        ("cannot be read", {"code": ["one", "two"]}),
    ],
)
def test_a_refused_answer_is_told_in_words_on_the_sign_in_page(
    url: str, provider: OidcProvider, words: str, changed: dict[str, Any]
) -> None:
    browser = visitor(url)
    refused = come_back(browser, provider, go(browser), **changed)

    assert refused.status_code in (400, 401)
    assert words in refused.text
    assert "Continue with Example &amp; Sons" in refused.text
    assert who(browser) is None


def test_an_unknown_provider_and_one_that_fails_are_told_in_words(
    url: str, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = visitor(url).get("/sign-in/oidc/nobody")
    browser = visitor(url)
    place = go(browser)
    monkeypatch.setattr(provider, "redeem", lambda *_: (500, {}))
    failed = come_back(browser, provider, place)

    assert (unknown.status_code, "Nobody signs in with this provider" in unknown.text) == (
        404,
        True,
    )
    assert (failed.status_code, "HTTP status 500" in failed.text) == (502, True)


def test_a_one_time_link_is_completed_at_a_provider(
    desk: Stack, url: str, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = printed(desk, monkeypatch, "oidc").strip().rpartition("/")[2]
    monkeypatch.setitem(provider.person, "sub", "the-first-admin")
    browser = visitor(url)
    page = browser.get(f"/sign-in/link/{link}").text
    followed = browser.get(f"/sign-in/oidc/company?link={link}", headers=REDIRECTED)
    answer = come_back(browser, provider, go(browser, f"/sign-in/oidc/company?link={link}"))

    assert f'href="/sign-in/oidc/company?link={link}"' in page
    assert followed.status_code == 403, "another site has sent it"
    assert answer.status_code == 303
    assert account(desk, browser)["role"] == "admin"
    assert browser.get(f"/sign-in/link/{link}").status_code == 410
    assert printed(desk, monkeypatch, "oidc") == "", "somebody can administer now"
    assert "Open this link once" in printed(desk, monkeypatch, "local,proxy"), "but not so"


def test_a_one_time_link_is_completed_by_whom_a_proxy_names(desk: Stack, url: str) -> None:
    browser = visitor(url, **{"X-Person": "grace", "X-Name": "Grace Hopper"})
    invited = invite(desk)
    page = browser.get(f"/sign-in/link/{invited['link_token']}").text
    answer = browser.post(f"/sign-in/link/{invited['link_token']}", headers=OWN)
    again = browser.post(f"/sign-in/link/{invited['link_token']}", headers=OWN)

    assert "Continue as Grace Hopper" in page
    assert "password" not in page
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert who(browser) == invited["person"]["id"]
    assert again.status_code == 410


def test_whom_a_trusted_proxy_names_is_signed_in_without_a_cookie(url: str) -> None:
    ada, bob = (visitor(url, **{"X-Person": name}) for name in ("ada", "bob"))

    opened = ada.get("/data")
    people = {who(ada), who(bob)}
    again = who(visitor(url, **{"X-Person": "ada"}))
    unnamed = visitor(url)

    assert opened.status_code == 200
    assert "set-cookie" not in {*opened.headers, *ada.get("/sign-in").headers}
    assert ada.get("/sign-in?next=/data").headers["location"] == "/data"
    assert None not in people
    assert len(people) == 2
    assert again in people
    assert who(unnamed) is None
    assert "named nobody here" in unnamed.get("/sign-in").text


def test_a_proxys_word_counts_before_a_cookie(url: str, provider: OidcProvider) -> None:
    browser = visitor(url)
    come_back(browser, provider, go(browser))
    own = who(browser)
    browser.headers["X-Person"] = "carla"

    assert who(browser) not in (None, own)
    twice = browser.get("/", headers=[("X-Person", "carla"), ("X-Person", "ada")])
    assert twice.status_code == 400


def test_signing_out_says_what_a_proxy_means(url: str) -> None:
    browser = visitor(url, **{"X-Person": "dora"})
    own = who(browser)
    asked = browser.get("/sign-in/out").text
    left = browser.post("/sign-in/out", headers=OWN)

    assert "It still knows you afterwards" in asked
    assert left.headers["location"] == "/sign-in/left"
    assert "still knows you" in browser.get("/sign-in/left").text
    assert who(browser) == own, "as it says"


def test_pages_that_the_api_does_not_know_say_so_at_the_start(desk: Stack) -> None:
    key = desk.environment["PAGES_KEY"]
    try:
        desk.environment["PAGES_KEY"] = "another key, of another host"
        desk.start_ui()
    finally:
        desk.environment["PAGES_KEY"] = key

    said = f"The API at {desk.base_url} does not know these pages"
    desk.wait_for(lambda: said in desk.log.read_text(), "nobody says so")
    assert desk.log.read_text().count(said) == 1


def test_who_is_switched_off_is_told_so_behind_a_proxy(desk: Stack, url: str) -> None:
    browser = visitor(url, **{"X-Person": "emil"})
    own = who(browser)
    desk.query_and_commit("UPDATE users SET disabled_at = now() WHERE id = :id", id=own)

    desk.wait_for(lambda: who(browser) is None, "who was switched off is still let in")
    assert browser.get("/").headers["location"] == "/sign-in"
    refused = browser.get("/sign-in")
    assert (refused.status_code, "switched this account off" in refused.text) == (403, True)
