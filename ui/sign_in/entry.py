"""A browser's sign-in begins and ends: the API's answer becomes a cookie and a redirect."""

from contextlib import suppress

import httpx
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from backend.schemas.people.account import Account
from ui.async_api import AsyncApi
from ui.client import TIMEOUT
from ui.cookies import clear_token, find_token, set_token
from ui.sign_in.places import SIGN_IN, own_path

SEE_OTHER = 303  # a form was posted, and what follows is read
NOT_STORED = {"Cache-Control": "no-store"}


async def begin(request: Request, api: AsyncApi, token: str, place: str | None) -> Response:
    """Put the token of a new sign-in into the browser's cookie, and go where the person wanted.

    The sign-in that the browser had before ends: nothing that holds its token is left.
    """
    await end_earlier(request, api)
    response = RedirectResponse(own_path(place), SEE_OTHER, NOT_STORED)
    set_token(request, response, token)
    return response


def leave(request: Request, place: str = SIGN_IN) -> Response:
    """Have the browser forget its token and what its tabs have stored, and go to this place."""
    headers = {**NOT_STORED, "Clear-Site-Data": '"cache", "storage"'}
    response = RedirectResponse(place, SEE_OTHER, headers)
    clear_token(request, response)
    return response


async def end_earlier(request: Request, api: AsyncApi) -> None:
    """End the sign-in whose token the browser sent, if there is one."""
    token = find_token(request)
    if token is None:
        return
    calls = api.as_caller(token).calls
    with suppress(httpx.TransportError):  # it ends by itself, and this browser forgets it
        answer = await calls.get("account", timeout=TIMEOUT)
        if answer.is_success and (sign_in := Account.read(answer.content).sign_in):
            await calls.delete(f"sign-ins/{sign_in}", timeout=TIMEOUT)
