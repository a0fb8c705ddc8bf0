"""Whether the API knows these pages, where a proxy says who people are.

Otherwise the first person whom the proxy names would find out.
"""

import asyncio
import logging
import os
from collections.abc import Sequence

import httpx

from ui.client import TIMEOUT, api_servers, authorization

AGAIN_SECONDS = 5.0
log = logging.getLogger(__name__)


async def check_key() -> None:
    """Ask each server of the API, once it answers, and log an error for one with another key."""
    key = os.environ.get("PAGES_KEY")
    unasked: Sequence[str] = api_servers() if key else ()
    while unasked:
        unasked = [server for server in unasked if not await _has_answered(server, key)]
        if unasked:
            await asyncio.sleep(AGAIN_SECONDS)


async def _has_answered(server: str, key: str | None) -> bool:
    url = f"{server}/api/v1/sign-ins/proxy"
    try:
        async with httpx.AsyncClient(headers=authorization(key), timeout=TIMEOUT) as client:
            answer = await client.get(url)
    except httpx.TransportError:
        return False
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        log.error(
            "The API at %s does not know these pages, and lets nobody in whom a proxy names. Give"
            " API and pages on all hosts the same PAGES_KEY, and AUTH with proxy.",
            server,
        )
    return not answer.is_server_error
