"""Whose tab an upload is for; and that no file is fetched from Streamlit."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from starlette.responses import PlainTextResponse

from ui.sign_in import tabs
from ui.sign_in.checks import Checks
from ui.sign_in.gate import Gate
from ui.sign_in.tabs import UPLOADS, Tabs
from ui.sign_in.tokens import Tokens

PLACE = f"{UPLOADS}tab-1/file-1"


def tell(known: Tabs, sign_in: str, *contents: bytes) -> list[Any]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def story() -> None:
        for content in contents:
            await known.noting(sign_in, send)({"type": "websocket.send", "bytes": content})

    asyncio.run(story())
    return sent


def test_who_is_told_an_address_first_uploads_there_and_nobody_else():
    known = Tabs()
    told = b"\x12\x18" + PLACE.encode() + b"\x1a\x18" + PLACE.encode()

    assert tell(known, "ada", b"no address", told)[1]["bytes"] == told
    tell(known, "eve", told)

    assert known.may_upload(PLACE, "ada")
    assert known.may_upload(f"{UPLOADS}tab-1/file-2", "ada")
    assert not known.may_upload(PLACE, "eve")
    assert not known.may_upload(f"{UPLOADS}tab-2/file-1", "ada")
    assert known.may_upload("/data", "eve")


def test_what_is_remembered_of_tabs_is_bounded(monkeypatch):
    monkeypatch.setattr(tabs, "MOST", 2)
    known = Tabs()
    places = [f"{UPLOADS}tab-{number}/file" for number in range(3)]

    tell(known, "ada", *(place.encode() for place in places))

    assert [known.may_upload(place, "ada") for place in places] == [False, True, True]


class SignedIn:
    """The checks and tokens of somebody whose sign-in holds."""

    async def has_accounts(self) -> bool:
        return True

    async def find(self, _: object) -> Any:
        return SimpleNamespace(sign_in="a sign-in", user_id="ada")


@pytest.mark.parametrize("path", ["/media/one.csv", PLACE])
def test_what_streamlit_would_hand_out_or_take_for_anybody_is_refused(path: str):
    gate = Gate(
        PlainTextResponse("Streamlit's"), cast(Checks, SignedIn()), cast(Tokens, SignedIn())
    )

    async def ask(path: str) -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(gate)) as browser:
            return (await browser.get(f"http://pages{path}")).status_code

    assert asyncio.run(ask("/data")) == 200
    assert asyncio.run(ask(path)) == 404
