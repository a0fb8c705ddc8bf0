"""Calls of the API for visitors who sign in or out, and what they are told if they fail."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, TypeVar

import httpx
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from backend.schemas.wire import Wire
from backend.web.identity import proxied_by
from ui.async_api import AsyncApi
from ui.client import TIMEOUT, ClientError, api_servers, refusal, unreachable
from ui.cookies import name_for
from ui.sign_in import forms
from ui.sign_in.checks import Unavailable
from ui.sign_in.places import SIGN_IN

TITLE = "Sign in"
AWAY = "The service does not answer. Nothing is lost; try again in a moment."
TOO_LONG = "No name and no password is as long as what was sent."
NEEDS_HTTPS = (
    "Signing in needs https here: over http, others on the way could read the password. Open the "
    "https address of Colloquy; its operator sets it as PUBLIC_URL."
)
DOUBLE_SECONDS = 10.0  # between two clicks that are meant as one, on a busy machine
Answer = Callable[[Any, Request], Awaitable[Response]]
Model = TypeVar("Model", bound=Wire)


def over_safe_ground(answer: Answer) -> Answer:
    """Answer only where a cookie can be set, or none is needed; say what is missing elsewhere."""

    @wraps(answer)
    async def check(self: Any, request: Request) -> Response:
        if name_for(request) is None and proxied_by(request.scope) is None:
            return forms.notice(TITLE, 403, NEEDS_HTTPS, SIGN_IN, "Try again")
        try:
            return await answer(self, request)
        except forms.TooLong:
            return forms.notice(TITLE, 413, TOO_LONG, SIGN_IN, "Try again")
        except Unavailable:
            return forms.notice(TITLE, 503, AWAY, SIGN_IN, "Try again")
        except ClientError as error:
            return forms.notice(error.title, error.status, error.detail, SIGN_IN, "Try again")

    return check


async def call(
    api: AsyncApi,
    model: type[Model],
    method: str,
    path: str,
    visitor: HTTPConnection,
    body: Mapping[str, Any] | None = None,
    token: str | None = None,
) -> Model:
    """Make a call for a visitor, as whose token it is; None: of nobody yet. Raise ClientError."""
    calls = api.as_caller(token).calls
    headers = visitor_headers(visitor)
    try:
        answer = await calls.request(method, path, headers=headers, timeout=TIMEOUT, json=body)
    except httpx.TransportError:
        raise unreachable(api_servers()) from None
    if not answer.is_success:
        raise refusal(answer)
    return model.read(answer.content)


class Once:
    """Answers a form once that a double click sends twice: both get the answer.

    The browser takes the second one's, and the first has used up a link or an old password.
    """

    def __init__(self) -> None:
        self._answers: dict[bytes, asyncio.Task[Response]] = {}

    async def answer(
        self,
        request: Request,
        given: Mapping[str, str],
        made: Callable[[], Coroutine[Any, Any, Response]],
    ) -> Response:
        """Return the answer to a form, made now or a moment ago. Raise what `made` raises.

        Forms are the same if they come from one page, which names each form that it sends.
        """
        if not given.get(forms.FORM):
            return await made()
        sent = (request.url.path, sorted(given.items()))
        key = hashlib.sha256(repr(sent).encode()).digest()
        if (task := self._answers.get(key)) is None:
            task = self._answers[key] = asyncio.create_task(made())
            asyncio.get_running_loop().call_later(DOUBLE_SECONDS, self._answers.pop, key, None)
        return await asyncio.shield(task)


def visitor_headers(visitor: HTTPConnection) -> dict[str, str]:
    """Return the headers by which the API learns whose browser asks, and from where."""
    hops = visitor.headers.getlist("x-forwarded-for")
    hops += [visitor.client.host] if visitor.client else []
    browser = visitor.headers.get("user-agent")
    return {"X-Forwarded-For": ", ".join(hops)} | ({"User-Agent": browser} if browser else {})
