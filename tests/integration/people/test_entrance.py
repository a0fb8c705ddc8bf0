"""The pages where people sign in: what a browser reaches without a sign-in, and with one.

The real servers; the browser is played by a client that keeps cookies as one does.
"""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from backend.schemas.people.account import UNATTENDED
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.people.people import PASSWORD
from tests.stack import Servers, Stack
from ui.relay.route import PATH as RELAY

PUBLIC = "https://desk.example.com"
NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"}
DOCUMENTS = ["/", "/data", "/inbox", "/shared?link=x", "/?session=x"]
REQUESTS = [
    "/colloquy/person",
    "/colloquy/api/sessions",
    "/_stcore/host-config",
    "/_stcore/metrics",
    "/_stcore/agent/interact",
    "/media/none.png",
    "/component/none/index.html",
    "/_stcore/bidi-components/none/x.js",
    "/nowhere",
]
SOCKETS = ["/_stcore/stream", RELAY, "/sign-in", "/nowhere"]
OPENED: list[ClientConnection] = []
OPEN = ["/_stcore/health", "/favicon.png", "/sign-in"]


@pytest.fixture(scope="module")
def desk(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A stack in which people sign in."""
    home = tmp_path_factory.mktemp("accounts")
    with make_stack(servers, model, home, AUTH="local", TRUSTED_PROXIES="") as running:
        yield running


@pytest.fixture(autouse=True)
def _sockets_end() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture(scope="module")
def url(desk: Stack) -> str:
    return desk.start_ui()


@pytest.fixture(scope="module")
def admin(desk: Stack, url: str) -> httpx.Client:
    """The first administrator's browser, signed in by the link that the start prints."""
    status, said = desk.run("-m", "backend.people.first_admin")
    assert status == 0, said
    browser = visitor(url)
    token = said.strip().rpartition("/")[2]
    given = {"name": "Ada", "login": "ada", "password": PASSWORD, "again": PASSWORD}
    answer = browser.post(f"/sign-in/link/{token}", data=given)
    assert answer.status_code == 303, answer.text
    return browser


def visitor(url: str, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers=headers, timeout=30)


def person(url: str, admin: httpx.Client, desk: Stack, login: str) -> httpx.Client:
    """Invite somebody, and return their browser, signed in."""
    invited = desk.client.post("/people", json={"name": login}, headers=bearer(admin)).json()
    browser = visitor(url)
    given = {"login": login, "password": PASSWORD, "again": PASSWORD}
    answer = browser.post(f"/sign-in/link/{invited['link_token']}", data=given)
    assert answer.status_code == 303, answer.text
    return browser


def bearer(browser: httpx.Client) -> dict[str, str]:
    return {"Authorization": f"Bearer {browser.cookies['colloquy']}"}


def sign_in(browser: httpx.Client, login: str, **fields: str) -> httpx.Response:
    return browser.post("/sign-in", data={"login": login, "password": PASSWORD, **fields})


def open_socket(
    url: str, browser: httpx.Client, path: str = "/_stcore/stream", *protocols: str
) -> ClientConnection:
    cookie = "; ".join(f"{one.name}={one.value}" for one in browser.cookies.jar)
    socket = connect(
        f"ws{url.removeprefix('http')}{path}",
        additional_headers={"Cookie": cookie} if cookie else {},
        subprotocols=[Subprotocol(one) for one in protocols] or None,
        max_size=None,
        max_queue=None,
    )
    OPENED.append(socket)
    return socket


def follow(url: str, browser: httpx.Client, session: str) -> ClientConnection:
    """Open a tab's connection to the relay, and follow a session."""
    whose = browser.get("/colloquy/api/server").json()["user"]
    socket = open_socket(url, browser, f"{RELAY}?person={whose}")
    socket.send(json.dumps({"follow": session, "after": None}))
    return socket


def tab(
    url: str, browser: httpx.Client, resumed: str | None = None, page: str = ""
) -> tuple[Any, str]:
    """Open a tab's connection to Streamlit, and return it with the id of its session."""
    protocols = ["streamlit", "none", resumed] if resumed else ["streamlit"]
    socket = open_socket(url, browser, "/_stcore/stream", *protocols)
    return socket, session_of(socket, page)


def session_of(socket: ClientConnection, page: str = "") -> str:
    """Have a page drawn, and return the id of the session that Streamlit gives."""
    begin = BackMsg()
    begin.rerun_script.query_string = ""
    begin.rerun_script.page_name = page
    socket.send(begin.SerializeToString())
    while True:
        message = ForwardMsg.FromString(socket.recv(timeout=60))
        if message.WhichOneof("type") == "new_session":
            return str(message.new_session.initialize.session_id)


def closing_code(socket: ClientConnection, seconds: float = 10) -> int:
    """Return the code with which the server closes, whatever it sends before."""
    with pytest.raises(ConnectionClosed):
        while True:
            socket.recv(timeout=seconds)
    return socket.close_code or 0


@pytest.mark.parametrize("path", DOCUMENTS)
def test_who_opens_a_page_unknown_signs_in_and_comes_back(url: str, path: str) -> None:
    answer = visitor(url).get(path, headers=NAVIGATION)

    assert answer.status_code == 303
    assert httpx.URL(answer.headers["location"]).path == "/sign-in"
    assert httpx.URL(answer.headers["location"]).params.get("next", "/") == path


@pytest.mark.parametrize("cookie", ["", "cqs_wrong", "nonsense"])
def test_nothing_else_answers_the_unknown(url: str, admin: httpx.Client, cookie: str) -> None:
    browser = visitor(url, Cookie=f"colloquy={cookie}")
    api_token = visitor(url, **bearer(admin))

    for path in REQUESTS:
        assert browser.get(path).status_code == 401, path
        assert api_token.get(path).status_code == 401, path
    assert browser.put("/_stcore/upload_file/a/b").status_code == 401
    assert browser.post("/colloquy/api/chat", json={}).status_code == 401
    assert browser.post("/", headers=NAVIGATION).status_code == 401


@pytest.mark.parametrize("path", SOCKETS)
def test_no_socket_opens_for_the_unknown(url: str, path: str) -> None:
    for browser in (visitor(url), visitor(url, Cookie="colloquy=cqs_wrong")):
        with pytest.raises(InvalidStatus) as refused:
            open_socket(url, browser, path)

        assert refused.value.response.status_code in (401, 403)


@pytest.mark.parametrize("path", OPEN)
def test_what_is_nobodys_is_there_for_everybody(url: str, path: str) -> None:
    assert visitor(url).get(path).status_code == 200


def test_pages_and_sockets_open_for_who_is_signed_in(url: str, admin: httpx.Client) -> None:
    page = admin.get("/", headers=NAVIGATION)
    socket, session_id = tab(url, admin)
    socket.close()

    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert f'content="{admin.get("/colloquy/person").text}"' in page.text
    assert session_id


@pytest.mark.parametrize("path", ["/nowhere", "/index.html"])
def test_each_page_says_whose_it_is_whatever_its_address(
    url: str, admin: httpx.Client, path: str
) -> None:
    answer = admin.get(path, headers=NAVIGATION)

    assert 'name="colloquy-person"' in answer.text
    assert "signed_in.js" in answer.text
    assert admin.get("/manifest.json").headers["content-type"] == "application/json"


def test_a_person_signs_in_where_they_wanted_to_be(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    person(url, admin, desk, "berta")
    browser = visitor(url)

    offered = browser.get("/sign-in?next=/data")
    wrong = browser.post("/sign-in", data={"login": "berta", "password": "no", "next": "/data"})
    answer = sign_in(browser, "berta", next="/data?x=1")
    elsewhere = sign_in(visitor(url), "berta", next="//evil.example")

    assert 'autocomplete="current-password"' in offered.text
    assert "form-action 'self'" in offered.headers["content-security-policy"]
    assert (wrong.status_code, answer.status_code) == (401, 303)
    assert "The name or the password is wrong" in wrong.text
    assert 'value="/data"' in wrong.text
    assert answer.headers["location"] == "/data?x=1"
    assert elsewhere.headers["location"] == "/"


def test_each_sign_in_has_a_new_token_and_ends_the_one_before(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    browser = person(url, admin, desk, "cleo")
    earlier = bearer(browser)

    sign_in(browser, "cleo")

    assert bearer(browser) != earlier
    assert desk.client.get("/account", headers=bearer(browser)).status_code == 200
    assert desk.client.get("/account", headers=earlier).status_code == 401


def test_the_api_learns_where_a_sign_in_comes_from(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    person(url, admin, desk, "dora")
    browser = visitor(url, **{"X-Forwarded-For": "203.0.113.9", "User-Agent": "Her browser"})

    sign_in(browser, "dora")
    listed = desk.client.get("/sign-ins", headers=bearer(browser)).json()["items"]

    assert (listed[0]["address"], listed[0]["browser"]) == ("203.0.113.9", "Her browser")


def test_a_sign_in_is_needed_over_https_where_others_could_listen(desk: Stack) -> None:
    pages = desk.start_ui("--public-url", PUBLIC, "--allowed-hosts", "desk.example.org")
    http = visitor(pages, Host=f"desk.example.org:{urlsplit(pages).port}")
    https = visitor(pages, Host="desk.example.com")

    refused, offered = http.get("/sign-in"), https.get("/sign-in")

    assert refused.status_code == 403
    assert "needs https" in refused.text
    assert offered.status_code == 200


def test_over_https_the_cookie_is_bound_to_the_host(
    desk: Stack, url: str, admin: httpx.Client
) -> None:
    person(url, admin, desk, "emil")
    pages = desk.start_ui("--public-url", PUBLIC)
    browser = visitor(pages, Host="desk.example.com", Origin=PUBLIC)

    answer = sign_in(browser, "emil")
    token = answer.headers["set-cookie"].partition(";")[0].partition("=")[2]
    named = [f"__Host-colloquy={token}", f"colloquy={token}"]
    status = [browser.get("/colloquy/person", headers={"Cookie": one}).status_code for one in named]

    assert re.match(
        r"__Host-colloquy=cqs_\S+; HttpOnly; Path=/; SameSite=lax; Secure$",
        answer.headers["set-cookie"],
    )
    assert status == [200, 401]


def test_a_form_of_another_site_signs_nobody_in(url: str, admin: httpx.Client) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}):
        assert sign_in(visitor(url, **headers), "ada").status_code == 403


def test_a_used_link_and_an_overlong_form_say_what_to_do(url: str, admin: httpx.Client) -> None:
    used = visitor(url).get("/sign-in/link/cql_used")
    overlong = visitor(url).post("/sign-in", content=b"login=" + b"a" * 50_000)

    assert (used.status_code, overlong.status_code) == (410, 413)
    assert "Ask for a new one" in used.text


def test_a_double_click_counts_once_and_its_second_answer_is_that_of_the_first(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    invited = desk.client.post("/people", json={"name": "P"}, headers=bearer(admin)).json()
    link, browser = f"/sign-in/link/{invited['link_token']}", visitor(url)
    new = {"old": PASSWORD, "password": f"{PASSWORD} too", "again": f"{PASSWORD} too"}
    click_twice(browser, link, {"login": "twice", "password": PASSWORD, "again": PASSWORD})
    browser.cookies.clear()  # as at another machine
    click_twice(browser, "/sign-in", {"login": "twice", "password": PASSWORD})
    click_twice(browser, "/sign-in/password", new)
    open_now = desk.client.get("/sign-ins", headers=bearer(browser)).json()["items"]

    assert [one["is_this"] for one in open_now] == [True]
    assert browser.post(link, data=new).status_code == 410


def click_twice(browser: httpx.Client, path: str, fields: dict[str, str]) -> None:
    """Send a page's form two times at once; both answers must begin one sign-in."""
    (form,) = re.findall(r'name="form" value="([^"]+)"', browser.get(path).text)
    with ThreadPoolExecutor(2) as threads:
        sent = [threads.submit(browser.post, path, data=fields | {"form": form}) for _ in range(2)]
        answers = [one.result() for one in sent]
    assert [one.status_code for one in answers] == [303, 303]
    assert answers[0].headers["set-cookie"] == answers[1].headers["set-cookie"]


@pytest.mark.parametrize("name", ["login", "password"])
def test_what_no_name_and_no_password_can_be_is_said_in_words(
    url: str, admin: httpx.Client, name: str
) -> None:
    given = {"login": "ada", "password": "wrong", name: "x" * 1_500}

    answer = visitor(url).post("/sign-in", data=given)

    assert answer.status_code == 413
    assert "as long as what was sent" in answer.text
    assert "String should" not in answer.text


def test_a_token_that_is_nobodys_is_asked_for_once(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    before = desk.log.read_text().count(" route=/account ")
    browser = visitor(url, Cookie="colloquy=cqs_ended")

    assert {browser.get("/colloquy/person").status_code for _ in range(20)} == {401}
    assert desk.log.read_text().count(" route=/account ") <= before + 1


def test_signing_out_ends_pages_at_once_and_everywhere_those_of_all_browsers(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    first, second = person(url, admin, desk, "fritz"), visitor(url)
    sign_in(second, "fritz")
    token = bearer(first)
    here, there = tab(url, first)[0], tab(url, second)[0]

    left = first.post("/sign-in/out", data={})
    assert closing_code(here) == 4401
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    assert "colloquy" not in first.cookies
    assert desk.client.get("/account", headers=token).status_code == 401
    assert second.get("/colloquy/person").status_code == 200

    second.post("/sign-in/out", data={"everywhere": "yes"})
    assert closing_code(there) == 4401


def test_a_new_password_keeps_this_browser_and_ends_all_others(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    here, there = person(url, admin, desk, "nina"), visitor(url)
    sign_in(there, "nina")
    before, socket = bearer(here), tab(url, there)[0]
    new = "five other random words"
    form = {"old": PASSWORD, "password": new, "again": new}
    assert 'value="nina"' in here.get("/sign-in/password").text

    differs = here.post("/sign-in/password", data={**form, "again": "something else"})
    wrong = here.post("/sign-in/password", data={**form, "old": "not the old one"})
    weak = here.post("/sign-in/password", data={**form, "password": "short", "again": "short"})
    assert [answer.status_code for answer in (differs, wrong, weak)] == [422, 401, 422]
    assert "The old password is wrong" in wrong.text
    assert bearer(here) == before and here.get("/colloquy/person").status_code == 200
    changed = here.post("/sign-in/password", data=form)

    assert (changed.status_code, changed.headers["location"]) == (303, "/account")
    assert closing_code(socket) == 4401
    assert here.get("/colloquy/person").status_code == 200
    assert there.get("/colloquy/person").status_code == 401
    assert desk.client.get("/account", headers=before).status_code == 401
    assert sign_in(visitor(url), "nina").status_code == 401
    assert sign_in(visitor(url), "nina", password=new).status_code == 303


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_is_not_signed_in_is_led_to_the_account_by_the_sign_in(url: str, method: str) -> None:
    answer = visitor(url).request(method, "/sign-in/password", data={"password": "x"})

    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2Faccount"


def test_a_socket_ends_with_a_sign_in_that_ends_elsewhere(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    browser = person(url, admin, desk, "gerd")
    session = desk.client.post("/sessions", json={}, headers=bearer(browser)).json()["id"]
    sockets = [tab(url, browser)[0], follow(url, browser, session)]

    desk.query_and_commit("UPDATE users SET disabled_at = now() WHERE login = 'gerd'")

    assert [closing_code(one) for one in sockets] == [4401, 4401]
    assert browser.get("/", headers=NAVIGATION).status_code == 303


def test_a_page_that_is_only_open_is_no_use_of_its_sign_in(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    browser = person(url, admin, desk, "ines")
    session = desk.client.post("/sessions", json={}, headers=bearer(browser)).json()["id"]
    socket = follow(url, browser, session)
    almost = "now() - interval '12 hours' + interval '6 seconds'"
    whose = "user_id = (SELECT id FROM users WHERE login = 'ines')"

    desk.query_and_commit(f"UPDATE sign_ins SET used_at = {almost} WHERE {whose}")
    checked = browser.get("/colloquy/api/server", headers=UNATTENDED)

    assert checked.status_code == 200
    assert closing_code(socket, 30) == 4401


def test_a_tab_is_resumed_by_the_sign_in_that_began_it_and_by_no_other(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    own, other = person(url, admin, desk, "hanna"), person(url, admin, desk, "ida")
    socket, session_id = tab(url, own)

    assert tab(url, other, session_id)[1] != session_id, "while it is open"
    socket.close()
    assert tab(url, other, session_id)[1] != session_id, "after it was left"
    sign_in(other, "ida")
    assert tab(url, other, session_id)[1] != session_id, "after another sign-in"
    assert tab(url, own, session_id)[1] == session_id


def test_a_file_of_a_page_is_a_link_that_counts_for_who_may_read_it(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    other = person(url, admin, desk, "oda")
    asked = {"message": "Spend"}
    session = desk.client.post("/chat", json=asked, headers=bearer(admin)).json()["session_id"]
    place = f"/colloquy/api/sessions/{session}/export?format=markdown"

    own, refused = admin.get(place), other.get(place)

    assert (own.status_code, own.headers["cache-control"]) == (200, "no-store")
    assert own.headers["content-disposition"].startswith("attachment")
    assert refused.status_code == 404
    assert visitor(url).get(place).status_code == 401


def test_each_route_of_the_pages_answers_for_the_one_who_asks(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    own, other = person(url, admin, desk, "lea"), person(url, admin, desk, "mia")
    session = desk.client.post("/sessions", json={}, headers=bearer(own)).json()["id"]
    sent = {"url": f"/colloquy/api/sessions/{session}/chat", "json": {"message": "Hello"}}
    headers = {"Origin": url, "Prefer": "respond-async"}
    place = f"/colloquy/api/sessions/{session}"

    assert (own.get(place).status_code, other.get(place).status_code) == (200, 404)
    assert other.post(**sent, headers=headers).status_code == 404
    assert own.post(**sent, headers=headers).status_code in (200, 202)
    assert '"gone"' in follow(url, other, session).recv(timeout=30)
    assert '"back"' in follow(url, own, session).recv(timeout=30)
