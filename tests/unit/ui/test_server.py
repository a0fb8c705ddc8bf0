"""The pages' server: what it does before it serves, and what a browser that leaves is to it."""

import asyncio
import gc
import sys
from pkgutil import walk_packages
from typing import Any, cast

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from ui import features
from ui.server import prepared, until_left

UPLOAD = {
    "type": "http",
    "method": "PUT",
    "path": "/",
    "raw_path": b"/",
    "query_string": b"",
    "headers": [(b"content-type", b"multipart/form-data; boundary=b")],
}
PART = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nhalf of'


async def _read_form(request: Request) -> PlainTextResponse:
    await request.form()
    return PlainTextResponse("all of it")


async def _break_off(app: Any) -> list[str]:
    """Send half an upload, and leave; return what was sent back."""
    sent: list[str] = []
    told = iter(
        [
            {"type": "http.request", "body": PART, "more_body": True},
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> Any:
        return next(told)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await app(UPLOAD, receive, send)
    return sent


def test_a_form_that_is_broken_off_is_no_failure_in_the_log():
    app = Starlette(routes=[Route("/", _read_form, methods=["PUT"])])

    with pytest.raises(ClientDisconnect):
        asyncio.run(_break_off(app))
    asyncio.run(_break_off(until_left(app)))


def test_any_other_failure_still_is_one():
    async def fails(*_: Any) -> None:
        raise RuntimeError("ours")

    with pytest.raises(RuntimeError):
        asyncio.run(_break_off(until_left(fails)))


def test_what_pages_import_is_loaded_and_kept_from_collection_before_they_open() -> None:
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()

    async def start() -> int:
        async with prepared(cast(streamlit.App, None)):
            return gc.get_freeze_count()

    try:
        assert asyncio.run(start()) > frozen
        assert gc.get_threshold()[0] > thresholds[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
    missing = [
        found.name
        for found in walk_packages(features.__path__, f"{features.__name__}.")
        if found.name not in sys.modules
    ]
    assert missing == []
