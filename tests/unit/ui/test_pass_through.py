"""The API as browsers read it through the pages' server: as the person whom the gate has found."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from ui import async_api, pass_through
from ui.async_api import AsyncApi
from ui.cookies import BEGINNING, ON_LOOPBACK

TOKEN = f"{BEGINNING}of-the-person"
ANSWER = {"Content-Type": "text/csv", "Content-Disposition": 'attachment; filename="a.csv"'}


class Api(httpx.AsyncBaseTransport):
    """An API that remembers what it is asked."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.is_away = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            raise httpx.ConnectError("away")
        self.asked.append(request)
        headers = {**ANSWER, "Set-Cookie": "of=api", "Server": "api"}
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


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_nothing_is_changed(api, browser, method):
    assert browser.request(method, "/colloquy/api/sessions").status_code == 405
    assert api.asked == []


def test_without_the_api_a_sentence_says_so(api, browser):
    api.is_away = True

    answer = browser.get("/colloquy/api/sessions")

    assert answer.status_code == 503
    assert answer.json()["title"] == "The service does not answer"
