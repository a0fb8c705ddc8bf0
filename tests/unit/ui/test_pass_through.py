"""The API as browsers read it through the pages' server: as the person whom the gate has found."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from ui import async_api, pass_through
from ui.async_api import AsyncApi
from ui.cookies import BEGINNING, ON_LOOPBACK

TOKEN = f"{BEGINNING}of-the-person"
ANSWER = {"Content-Type": "text/csv", "Content-Disposition": 'attachment; filename="a.csv"'}
OURS = {"Origin": "http://testserver"}
CHANGING = ["POST", "PUT", "PATCH", "DELETE"]


class Api(httpx.AsyncBaseTransport):
    """An API that remembers what it is asked."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.bodies: list[bytes] = []
        self.answered: dict[str, str] = {}
        self.is_away = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            raise httpx.ConnectError("away")
        self.asked.append(request)
        self.bodies.append(await request.aread())
        headers = {**ANSWER, "Set-Cookie": "of=api", "Server": "api", **self.answered}
        return httpx.Response(410, headers=headers, stream=httpx.ByteStream(b"a;b"))


@pytest.fixture
def api(monkeypatch: Any) -> Api:
    api = Api()
    monkeypatch.setattr(async_api, "_transport", lambda: api)
    return api


@pytest.fixture
def browser(api: Api) -> Iterator[TestClient]:
    app = Starlette(routes=[pass_through.route(AsyncApi())])
    with TestClient(app, cookies={ON_LOOPBACK: TOKEN}) as client:
        yield client


def test_a_question_is_passed_on_as_the_person_and_its_answer_as_it_is(api, browser):
    answer = browser.get(
        "/colloquy/api/shared/t_-k/results/1?format=csv&q=a%26b",
        headers={"Authorization": "Bearer of-another", "X-Forwarded-For": "1.2.3.4"},
    )

    (asked,) = api.asked
    assert asked.url.raw_path == b"/api/v1/shared/t_-k/results/1?format=csv&q=a%26b"
    assert asked.headers["authorization"] == "Bearer " + TOKEN
    assert "cookie" not in asked.headers and "x-forwarded-for" not in asked.headers
    assert "colloquy-unattended" not in asked.headers
    assert (answer.status_code, answer.content) == (410, b"a;b")
    assert {name: answer.headers[name] for name in ANSWER} == ANSWER
    assert "set-cookie" not in answer.headers and "server" not in answer.headers


def test_a_page_that_asks_by_itself_keeps_no_sign_in_alive(api, browser):
    browser.get("/colloquy/api/shared/x", headers={"Colloquy-Unattended": "true"})

    assert api.asked[0].headers["colloquy-unattended"] == "true"


@pytest.mark.parametrize(
    "path",
    ["", "%2e%2e/metrics", "a/%2E%2E/%2e%2e/x", "a/..%2f..%2fx", "a//b", "http://e.example/x",
     "a/..%5cx"],
)  # fmt: skip
def test_nothing_but_the_api_is_reached(api, browser, path):
    answer = browser.get(f"/colloquy/api/{path}")

    assert answer.status_code == 404
    assert api.asked == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_only_a_page_of_ours_may_ask(api, browser, site):
    answer = browser.get("/colloquy/api/sessions", headers={"Sec-Fetch-Site": site})

    assert answer.status_code == 403
    assert api.asked == []


@pytest.mark.parametrize("method", CHANGING)
def test_a_change_is_passed_on_with_what_it_needs_and_nothing_more(api, browser, method):
    needed = {
        "Content-Type": "application/json; charset=utf-8",
        "Idempotency-Key": "k1",
        "If-Match": '"v1"',
        "Prefer": "respond-async",
        "Accept": "application/json",
        "Content-Encoding": "identity",
    }
    claimed = {
        "Cookie": f"{ON_LOOPBACK}={TOKEN}; other=1",
        "Authorization": "Bearer of-another",
        "Remote-User": "root",
        "X-Colloquy-Person": "root",
        "X-Forwarded-For": "1.2.3.4",
        "Forwarded": "for=1.2.3.4",
        "Connection": "X-Hop",
        "X-Hop": "1",
        "X-HTTP-Method-Override": "DELETE",
    }

    answer = browser.request(
        method, "/colloquy/api/sessions/1?a=b", content=b'{"title": "x"}',
        headers={**needed, **claimed, **OURS, "Sec-Fetch-Site": "same-origin"},
    )  # fmt: skip

    (asked,) = api.asked
    assert (answer.status_code, answer.content) == (410, b"a;b")
    assert (asked.method, asked.url.raw_path) == (method, b"/api/v1/sessions/1?a=b")
    assert api.bodies == [b'{"title": "x"}']
    assert {name: asked.headers[name] for name in needed} == needed
    assert asked.headers["authorization"] == "Bearer " + TOKEN
    assert asked.headers["content-length"] == "14"
    of_client = {"host", "accept-encoding", "connection", "user-agent"}
    allowed = {name.lower() for name in needed} | of_client | {"authorization", "content-length"}
    assert set(asked.headers) <= allowed
    assert asked.headers["connection"] == "keep-alive"


def test_a_change_without_a_body_has_none(api, browser):
    browser.delete("/colloquy/api/sessions/1", headers=OURS)

    assert api.bodies == [b""]
    assert "transfer-encoding" not in api.asked[0].headers


def test_a_body_of_unknown_length_is_passed_on_as_it_comes(api, browser):
    browser.post("/colloquy/api/files", content=iter([b"one", b"two"]), headers=OURS)

    assert api.bodies == [b"onetwo"]
    assert "content-length" not in api.asked[0].headers


@pytest.mark.parametrize("method", CHANGING)
@pytest.mark.parametrize(
    "sent",
    [{}, {"Origin": "null"}, {"Origin": "http://evil.example"}, {"Origin": "https://testserver"},
     {"Origin": "http://testserver:81"}, {"Origin": "http://testserver.evil.example"},
     {**OURS, "Sec-Fetch-Site": "same-site"}, {**OURS, "Sec-Fetch-Site": "cross-site"},
     {**OURS, "Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}],
)  # fmt: skip
def test_only_a_page_of_this_very_address_changes_anything(api, browser, method, sent):
    answer = browser.request(method, "/colloquy/api/sessions/1", headers=sent)

    assert answer.status_code == 403
    assert answer.json()["title"] == "This is no page of ours"
    assert api.asked == []


def test_two_origins_are_none(api, browser):
    twice = [("Origin", "http://testserver"), ("Origin", "http://evil.example")]

    assert browser.post("/colloquy/api/chat", headers=twice).status_code == 403
    assert api.asked == []


@pytest.mark.parametrize(
    "path",
    ["people", "account/tokens", "account/password", "sign-ins", "one-time-links/x", "domains",
     "grants", "teams/1/members/2", "model-connection", "webhooks", "Sessions", "sessions;x",
     "%73ign-ins", "retention", "workers/w/drain", "budgets/user/1", "imports/1/start"],
)  # fmt: skip
def test_a_conversation_changes_only_what_conversations_have(api, browser, path):
    answer = browser.post(f"/colloquy/api/{path}", json={}, headers=OURS)

    assert answer.status_code == 403
    assert answer.json()["title"] == "Not from a conversation"
    assert api.asked == []


@pytest.mark.parametrize(
    "path", ["sessions/../people", "sessions/%2e%2e/people", "chat/..%2fpeople"]
)
def test_no_change_leads_out_of_its_place(api, path):
    assert raw("POST", path) == 404
    assert api.asked == []


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_no_other_method_is_passed_on(api, browser, method):
    answer = browser.request(method, "/colloquy/api/sessions", headers=OURS)

    assert answer.status_code == 405
    assert api.asked == []


def test_the_head_of_an_answer_can_be_asked_for(api, browser):
    answer = browser.head("/colloquy/api/sessions")

    assert api.asked[0].method == "HEAD"
    assert answer.status_code == 410


def test_what_a_change_is_answered_says_where_it_is(api, browser):
    api.answered = {"Location": "/api/v1/files/1", "Retry-After": "5", "Link": "x"}

    answer = browser.post("/colloquy/api/files", headers=OURS)

    assert (answer.headers["location"], answer.headers["retry-after"]) == ("/api/v1/files/1", "5")
    assert "link" not in answer.headers


def raw(method: str, path: str) -> int:
    """Send a path as it is written here; return the status."""
    app = Starlette(routes=[pass_through.route(AsyncApi())])
    written = f"/colloquy/api/{path}".encode("latin-1")
    headers = {"host": "testserver", "origin": "http://testserver", "cookie": f"{ON_LOOPBACK}=x"}
    scope: dict[str, Any] = {
        "type": "http", "method": method, "scheme": "http", "server": ("testserver", 80),
        "path": unquote(written), "raw_path": written, "query_string": b"", "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    told: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        told.append(message)

    asyncio.run(app(scope, receive, send))
    status: int = told[0]["status"]
    return status


@pytest.mark.parametrize(
    "path",
    ["../metrics", "sessions/../../../metrics", "./x", "x/.", "//evil.example/x", "\\\\evil", "a:b",
     "http:evil.example", "http:/evil.example", "%00", "a%0d%0aX-Evil:%201", "%2f%2fevil.example",
     "\xc3\xa4", "x:99999999", "[::1", "@evil.example", "a@evil.example/x"],
)  # fmt: skip
def test_odd_paths_reach_the_api_below_its_root_or_nothing(api, path):
    status = raw("GET", path)

    for asked in api.asked:
        assert asked.url.host == "127.0.0.1"
        assert asked.url.raw_path.startswith(b"/api/v1/")
        assert b"/../" not in asked.url.raw_path and b"\r" not in asked.url.raw_path
        assert "x-evil" not in asked.headers
    assert bool(api.asked) == (status == 410)


def test_without_the_api_a_sentence_says_so(api, browser):
    api.is_away = True

    answer = browser.get("/colloquy/api/sessions")

    assert answer.status_code == 503
    assert answer.json()["title"] == "The service does not answer"
    assert browser.post("/colloquy/api/chat", headers=OURS).status_code == 503


def test_a_page_of_another_person_is_told_nothing_of_the_one_who_is_signed_in(api, browser):
    signed_in = {"x-colloquy-person": "ada"}  # as the gate says

    answers = [
        browser.get("/colloquy/api/sessions", headers=signed_in | {"Colloquy-Person": page_of})
        for page_of in ("ben", "", "ada")
    ]
    link = browser.get("/colloquy/api/sessions", headers=signed_in)  # a download says nothing

    assert [answer.status_code for answer in answers] == [401, 401, 410]
    assert link.status_code == 410
    assert len(api.asked) == 2
