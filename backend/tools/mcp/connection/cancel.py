"""Telling a server that something is no longer needed; nobody waits for it to read that."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

import httpx
from mcp import ClientSession
from mcp.shared._httpx_utils import next_request_within_origin
from mcp.types import (
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    RequestId,
)

CANCEL_SECONDS = 5.0
CANCELLED = "notifications/cancelled"

_telling: set[asyncio.Task[None]] = set()


def tell(say: Callable[[], Awaitable[Any]]) -> asyncio.Task[None]:
    """Say it in the background, within a few seconds; a failure has no consequence.

    If the work has ended or the connection is closed, there is nothing to cancel.
    """

    async def try_it() -> None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CANCEL_SECONDS):
                await say()

    task = asyncio.create_task(try_it())
    _telling.add(task)
    task.add_done_callback(_telling.discard)
    return task


def cancel_requests(session: ClientSession, request_ids: Iterable[RequestId]) -> None:
    """Tell the server that nobody waits for the results of these requests any more.

    Not for tasks, which have a request of their own for it (MCP specification, "Cancellation").
    """
    for request_id in request_ids:
        params = CancelledNotificationParams(requestId=request_id)
        notification = CancelledNotification(params=params)
        tell(partial(session.send_notification, ClientNotification(notification)))


class CancellingClient(httpx.AsyncClient):
    """Posts cancellations in the background.

    The SDK sends nothing else until a notification is answered, and gives the connection up,
    with all its calls, if the answer is an error.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._posts: set[asyncio.Task[None]] = set()

    async def send(self, request: httpx.Request, **how: Any) -> httpx.Response:
        """Send the request; the end of the session waits until cancellations are posted."""
        if request.method == "DELETE" and self._posts:
            await asyncio.wait(self._posts)
        await request.aread()  # one that follows a redirect holds only a stream
        if request.method != "POST" or not _is_cancellation(request):
            return await super().send(request, **how)
        post = tell(partial(self._post, request))
        self._posts.add(post)
        post.add_done_callback(self._posts.discard)
        return httpx.Response(202, request=request)

    async def _post(self, request: httpx.Request) -> None:
        response = await super().send(request, stream=True)
        await response.aclose()
        if elsewhere := next_request_within_origin(response):
            await self._post(elsewhere)


def _is_cancellation(request: httpx.Request) -> bool:
    # Requests are often large, and only read if they can be one.
    written = request.content
    return CANCELLED.encode() in written and json.loads(written).get("method") == CANCELLED
