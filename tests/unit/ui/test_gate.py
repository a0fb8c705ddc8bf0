"""What the gate refuses whoever asks: files that Streamlit would take, or hand out, for anybody."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from starlette.responses import PlainTextResponse

from ui.sign_in.checks import Checks
from ui.sign_in.gate import Gate
from ui.sign_in.tokens import Tokens


class Asked:
    """The checks and tokens where nobody signs in, or of somebody whose sign-in holds."""

    def __init__(self, has_accounts: bool) -> None:
        self._has_accounts = has_accounts

    async def has_accounts(self) -> bool:
        return self._has_accounts

    async def find(self, _: object) -> Any:
        return SimpleNamespace(sign_in="a sign-in", user_id="ada")


@pytest.mark.parametrize("has_accounts", [True, False])
@pytest.mark.parametrize("path", ["/media/one.csv", "/_stcore/upload_file/tab-1/file-1"])
def test_what_streamlit_would_hand_out_or_take_for_anybody_is_refused(
    path: str, has_accounts: bool
) -> None:
    asked = Asked(has_accounts)
    gate = Gate(PlainTextResponse("Streamlit's"), cast(Checks, asked), cast(Tokens, asked))

    async def ask(method: str, path: str) -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(gate)) as browser:
            return (await browser.request(method, f"http://pages{path}")).status_code

    assert asyncio.run(ask("GET", "/data")) == 200
    assert {asyncio.run(ask(method, path)) for method in ("GET", "PUT", "DELETE")} == {404}
