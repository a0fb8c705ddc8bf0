"""An error that nobody expected leaves the frame of the page, and says what to do."""

import asyncio
import logging
from types import SimpleNamespace
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from ui.async_api import AsyncApi
from ui.features.chat import opening
from ui.features.chat.live import route
from ui.features.chat.live.route import LiveRoutes
from ui.features.sessions import sidebar


@pytest.mark.parametrize(("place", "what"), [(opening, "show"), (sidebar, "show")])
def test_an_unexpected_error_is_told_in_words_and_logged(
    open_page, monkeypatch, caplog, place, what
):
    def fail(*given):
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(place, what, fail)

    page = open_page()

    assert not page.exception
    assert ["could not be shown" in error.value for error in page.error] == [True]
    assert "a secret of ours" not in page.error[0].value
    assert "a secret of ours" in caplog.text
    caplog.clear()


@pytest.mark.parametrize("key", ["schlüssel", "\U0001f511", "two words", "a\r\nb", "", "k" * 300])
def test_a_key_that_no_header_can_have_is_refused(key):
    client = TestClient(Starlette(routes=LiveRoutes(None).routes))
    message = {"session": None, "domain": None, "text": "hello", "key": key}

    answer = client.post(route.SEND_PATH, json=message)

    assert (answer.status_code, answer.json()["title"]) == (422, "This message cannot be read")


class Feed:
    """The feed of a session in which something is written all the time."""

    def __init__(self, *_):
        pass

    async def frames(self):
        while True:
            yield [{"kind": "text"}]


@pytest.mark.parametrize(("error", "lines"), [(WebSocketDisconnect(1006), 0), (ValueError(), 1)])
def test_a_tab_that_closes_while_text_streams_is_no_failure(monkeypatch, caplog, error, lines):
    async def fail(_):
        raise error

    async def close(_):
        pass

    monkeypatch.setattr(route, "PageFeed", Feed)
    socket = SimpleNamespace(send_json=fail, close=close, cookies={})

    with caplog.at_level(logging.ERROR):
        asyncio.run(LiveRoutes(AsyncApi())._send(socket, uuid4()))

    assert len(caplog.records) == lines
