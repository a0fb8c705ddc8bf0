"""The gate in front of the pages, attacked: by odd paths, methods, sockets, headers and cookies."""

import http.client
import time
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.integration.people import test_entrance as entrance
from tests.integration.people.test_entrance import (
    NAVIGATION,
    bearer,
    closing_code,
    person,
    sign_in,
    tab,
    visitor,
)  # fmt: skip
from tests.stack import Stack

pytestmark = pytest.mark.security

desk, url, admin = entrance.desk, entrance.url, entrance.admin
PRIVATE = ["/_stcore/metrics", "/_stcore/host-config", "/colloquy/person", "/colloquy/api/account"]
# What a router, a proxy or a file system may take for the path behind it.
TRICKS = [
    "/{0}", "//{0}", "/./{0}", "/x/../{0}", "/static/../{0}", "/static/%2e%2e/{0}", "/static//{0}",
    "/static/..;/{0}", "/sign-in/../{0}", "/sign-in/%2e%2e/{0}", "/sign-in/%2e%2e%2f{0}",
    "/sign-in//{0}", "/sign-in/..;/{0}", "/sign-in;/{0}", "/colloquy/assets/../../{0}",
    "/colloquy/assets/%2e%2e/%2e%2e/{0}", "/_stcore/health/../../{0}", "/_stcore/health;/{0}",
    "/favicon.png/../{0}", "/{0}?", "/{0}%3f", "/{0}#", "/{0};x=/static/", "/{0}/", "/{0}%00",
    "/{0}%2f..%2f..%2fsign-in", "/\\{0}", "/%2f{0}", "/sign-in\\..\\{0}",
]  # fmt: skip
METHODS = ["HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get"]


def raw(url: str, path: str, method: str = "GET") -> tuple[int, bytes]:
    """Send a request line as it is written here, and no cookie."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.putrequest(method, path)
    connection.putheader("Accept", "text/html")
    connection.endheaders()
    answer = connection.getresponse()
    status, body = answer.status, answer.read()
    connection.close()
    return status, body


def open_with(url: str, cookie: str, path: str = "/_stcore/stream", **more: object) -> int:
    """Open a socket; return the status with which that is answered."""
    try:
        connect(
            f"ws{url.removeprefix('http')}{path}", additional_headers={"Cookie": cookie}, **more
        ).close()
    except InvalidStatus as refused:
        return refused.response.status_code
    return 101


@pytest.mark.parametrize("trick", TRICKS)
def test_no_odd_path_leads_past_the_gate(url: str, admin: httpx.Client, trick: str) -> None:
    for path in PRIVATE:
        own = admin.get(path)
        assert own.status_code == 200

        status, body = raw(url, trick.format(path[1:]))

        assert status != 200 or (body != own.content and b"<title>" in body), (path, body[:200])
        assert b'colloquy-person" content' not in body


@pytest.mark.parametrize("method", METHODS)
def test_no_other_method_leads_past_the_gate(url: str, method: str) -> None:
    for path in [*entrance.REQUESTS, "/", "/data", "/_stcore/upload_file/a/b"]:
        status, _ = raw(url, path, method)
        is_sent_away = status == 303 and method == "HEAD"
        assert is_sent_away or 400 <= status < 500, (path, status)


@pytest.mark.parametrize(
    "path", ["/_stcore/health", "/favicon.png", "/static/x", "/colloquy/assets/x", "/sign-in/x"]
)
def test_what_is_open_for_requests_is_not_for_sockets(url: str, path: str) -> None:
    assert open_with(url, "", path) in (401, 403)


def test_no_socket_opens_for_a_page_of_another_origin(url: str, admin: httpx.Client) -> None:
    cookie = f"colloquy={admin.cookies['colloquy']}"
    port = urlsplit(url).port or 0
    foreign = [
        "null", "https://evil.example", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}",
        f"http://127.0.0.1:{port}.evil.example", f"http://evil.example/127.0.0.1:{port}", "",
    ]  # fmt: skip

    statuses = {one: open_with(url, cookie, origin=Origin(one)) for one in foreign}

    assert open_with(url, cookie, origin=Origin(url)) == 101
    assert set(statuses.values()) == {403}, statuses


def test_a_token_counts_in_the_cookie_only(url: str, admin: httpx.Client) -> None:
    token = admin.cookies["colloquy"]
    offered = [Subprotocol(one) for one in ("streamlit", token, token)]

    assert open_with(url, "", subprotocols=offered) in (401, 403)
    assert open_with(url, "", f"/_stcore/stream?token={token}&colloquy={token}") in (401, 403)
    for cookie in (f"__Host-colloquy={token}", f"_streamlit_user={token}", f"Colloquy={token}"):
        assert open_with(url, cookie) in (401, 403), cookie


def test_what_a_browser_claims_to_be_counts_for_nothing(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    other = person(url, admin, desk, "thief")
    account = desk.client.get("/account", headers=bearer(admin)).json()
    socket, session_id = tab(url, admin)
    claims = {
        "X-Colloquy-Sign-In": str(account["sign_in"]),
        "X-Colloquy-Person": account["user_id"],
        "X_Colloquy_Sign_In": str(account["sign_in"]),
        "Authorization": f"Bearer {admin.cookies['colloquy']}",
    }

    claiming = visitor(url, Cookie=f"colloquy={other.cookies['colloquy']}", **claims)

    assert claiming.get("/colloquy/person").text == other.get("/colloquy/person").text
    page = claiming.get("/", headers=NAVIGATION).text
    assert account["user_id"] + '"' not in page.partition("</head>")[0]
    assert resumed(url, other, session_id, claims) != session_id
    assert claiming.put(f"/_stcore/upload_file/{session_id}/x").status_code == 404
    assert claiming.delete(f"/_stcore/upload_file/{session_id}/x").status_code == 404
    socket.close()


def test_of_two_cookies_one_counts_for_everything(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    people = [person(url, admin, desk, login) for login in ("castor", "pollux")]
    tokens = [one.cookies["colloquy"] for one in people]
    ids = [one.get("/colloquy/person").text for one in people]
    sessions = [
        desk.client.post("/sessions", json={}, headers=bearer(one)).json()["id"] for one in people
    ]

    for both in (tokens, tokens[::-1]):
        twice = visitor(url, Cookie="; ".join(f"colloquy={one}" for one in both))
        who = ids.index(twice.get("/colloquy/person").text)
        paths = [f"/colloquy/api/sessions/{one}/chat" for one in sessions]
        own = {"Origin": url, "Prefer": "respond-async"}
        sent = [twice.post(path, json={"message": "Hello"}, headers=own) for path in paths]
        statuses = [one.status_code for one in sent]
        assert statuses[who] in (200, 202)
        assert statuses[1 - who] == 404


def test_all_sockets_of_a_sign_in_end_with_it_however_many(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    browser = person(url, admin, desk, "hydra")
    sockets = [entrance.open_socket(url, browser) for _ in range(80)]

    desk.query_and_commit("UPDATE users SET disabled_at = now() WHERE login = 'hydra'")
    begin = time.monotonic()

    assert {closing_code(one) for one in sockets} == {4401}
    assert time.monotonic() - begin < 8
    with pytest.raises(InvalidStatus):
        entrance.open_socket(url, browser)


def test_an_earlier_sign_in_of_the_same_person_is_another_one(
    url: str, desk: Stack, admin: httpx.Client
) -> None:
    browser = person(url, admin, desk, "janus")
    socket, session_id = tab(url, browser)
    socket.close()

    sign_in(browser, "janus")

    assert resumed(url, browser, session_id, {}) != session_id


def resumed(url: str, browser: httpx.Client, session_id: str, headers: dict[str, str]) -> str:
    """Ask for a tab's session in each place of the protocol list; return the one that is given."""
    given = {"Cookie": f"colloquy={browser.cookies['colloquy']}", **headers}
    found = ""
    for protocols in (["streamlit", "x", session_id], ["streamlit", session_id, session_id]):
        socket: ClientConnection = connect(
            f"ws{url.removeprefix('http')}/_stcore/stream",
            additional_headers=given,
            subprotocols=[Subprotocol(one) for one in protocols],
            max_size=None,
        )
        entrance.OPENED.append(socket)
        found = entrance.session_of(socket)
        if found == session_id:
            return found
    return found
