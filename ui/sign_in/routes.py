"""The pages' own routes for signing in with a password, by a link, a new password, signing out."""

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from backend.schemas.people.account import Account, LinkPurpose, OneTimeLink, SignedIn, Ways
from backend.schemas.wire import Wire
from ui.async_api import AsyncApi
from ui.client import TIMEOUT, ClientError, refusal, unreachable
from ui.cookies import find_token, name_for
from ui.sign_in import entry, forms
from ui.sign_in.checks import Checks, Unavailable
from ui.sign_in.gate import PERSON_HEADER
from ui.sign_in.places import ACCOUNT, HOME, SIGN_IN, own_path, sign_in_path

PERSON = "/colloquy/person"
TITLE = "Sign in"
DIFFER = "The two passwords differ. Write them again."
AWAY = "The service does not answer. Nothing is lost; try again in a moment."
NEEDS_HTTPS = (
    "Signing in needs https here: over http, others on the way could read the password. Open the "
    "https address of Colloquy; its operator sets it as PUBLIC_URL."
)
LINK_TITLES = {
    LinkPurpose.FIRST_ADMIN: "Set up the first administrator",
    LinkPurpose.INVITATION: "Welcome to Colloquy",
    LinkPurpose.RESET: "Choose a new password",
}
LINK_WORDS = {
    LinkPurpose.FIRST_ADMIN: "What was made here before people signed in becomes yours.",
    LinkPurpose.INVITATION: "Choose how you sign in from now on.",
    LinkPurpose.RESET: "All devices on which you are signed in will be signed out.",
}
Answer = Callable[[Any, Request], Awaitable[Response]]
Model = TypeVar("Model", bound=Wire)


def _over_safe_ground(answer: Answer) -> Answer:
    """Answer only where a cookie can be set; say what is missing elsewhere."""

    @wraps(answer)
    async def check(self: Any, request: Request) -> Response:
        if name_for(request) is None:
            return forms.notice(TITLE, 403, NEEDS_HTTPS, SIGN_IN, "Try again")
        try:
            return await answer(self, request)
        except forms.TooLong:
            return forms.notice(TITLE, 413, "This form is too long.", SIGN_IN, "Try again")
        except Unavailable:
            return forms.notice(TITLE, 503, AWAY, SIGN_IN, "Try again")

    return check


class SignInRoutes:
    """Signs people in and out: calls the API, which decides, and keeps its token in a cookie."""

    def __init__(self, api: AsyncApi, checks: Checks) -> None:
        self._api = api
        self._checks = checks
        self.routes = [
            Route(SIGN_IN, self._offer),
            Route(SIGN_IN, self._sign_in, methods=["POST"]),
            Route(f"{SIGN_IN}/link/{{token}}", self._open_link),
            Route(f"{SIGN_IN}/link/{{token}}", self._use_link, methods=["POST"]),
            Route(f"{SIGN_IN}/password", self._change_password, methods=["GET", "POST"]),
            Route(f"{SIGN_IN}/out", self._ask_to_leave),
            Route(f"{SIGN_IN}/out", self._sign_out, methods=["POST"]),
            Route(PERSON, _tell_person),
        ]

    @_over_safe_ground
    async def _offer(self, request: Request) -> Response:
        """Offer the ways of signing in, unless the person has done so or there are none."""
        ways = await self._checks.list_ways()
        place = own_path(request.query_params.get("next"))
        token = find_token(request)
        is_signed_in = token is not None and await self._checks.find(token) is not None
        if is_signed_in or not ways.items:
            return RedirectResponse(place, entry.SEE_OTHER, entry.NOT_STORED)
        return _sign_in_page(ways, place)

    @_over_safe_ground
    async def _sign_in(self, request: Request) -> Response:
        given = await forms.read_form(request)
        place, login = own_path(given.get("next")), given.get("login", "")
        body = {"login": login, "password": given.get("password", "")}
        try:
            signed_in = await self._post("sign-ins", body, request)
        except ClientError as error:
            ways = await self._checks.list_ways()
            return _sign_in_page(ways, place, error, login)
        return await entry.begin(request, self._api, signed_in.token, place)

    @_over_safe_ground
    async def _open_link(self, request: Request) -> Response:
        try:
            link = await self._call(OneTimeLink, "GET", _link_path(request), request)
        except ClientError as error:
            return _ended_link(error)
        return _link_page(link)

    @_over_safe_ground
    async def _use_link(self, request: Request) -> Response:
        given = await forms.read_form(request)
        try:
            link = await self._call(OneTimeLink, "GET", _link_path(request), request)
        except ClientError as error:
            return _ended_link(error)
        if given.get("password") != given.get("again"):
            return _link_page(link, given, DIFFER, 422)
        body = {name: given[name] for name in ("password", "login", "name") if given.get(name)}
        try:
            signed_in = await self._post(_link_path(request), body, request)
        except ClientError as error:
            return _link_page(link, given, error.detail, error.status)
        return await entry.begin(request, self._api, signed_in.token, HOME)

    @_over_safe_ground
    async def _change_password(self, request: Request) -> Response:
        """Show the form, or set the password; the browser then keeps the new sign-in's token."""
        token = find_token(request)
        account = await self._checks.find(token) if token else None
        if token is None or account is None:
            return RedirectResponse(sign_in_path(ACCOUNT), entry.SEE_OTHER, entry.NOT_STORED)
        if not account.has_password:
            return RedirectResponse(ACCOUNT, entry.SEE_OTHER, entry.NOT_STORED)
        if request.method != "POST":
            return _password_page(account)
        given = await forms.read_form(request)
        if given.get("password") != given.get("again"):
            return _password_page(account, DIFFER, 422)
        body = {"old": given.get("old", ""), "new": given.get("password", "")}
        try:
            signed_in = await self._post("account/password", body, request, token)
        except ClientError as error:
            return _password_page(account, error.detail, error.status or 503)
        self._checks.forget(token, account.user_id)
        return await entry.begin(request, self._api, signed_in.token, ACCOUNT)

    async def _ask_to_leave(self, request: Request) -> Response:
        return forms.page("sign_out.html", "Sign out")

    @_over_safe_ground
    async def _sign_out(self, request: Request) -> Response:
        """End this sign-in, or all of the person's; its open pages end with it."""
        is_everywhere = bool((await forms.read_form(request)).get("everywhere"))
        token = find_token(request)
        account = token and await self._checks.find(token)
        if token and account:
            path = "sign-ins" if is_everywhere else f"sign-ins/{account.sign_in}"
            try:
                answer = await self._api.as_caller(token).calls.delete(path, timeout=TIMEOUT)
            except httpx.TransportError:
                raise Unavailable from None
            if answer.is_server_error:
                raise Unavailable
            self._checks.forget(token, account.user_id if is_everywhere else None)
        return entry.leave(request)

    async def _post(
        self, path: str, body: Mapping[str, str], request: Request, token: str | None = None
    ) -> SignedIn:
        return await self._call(SignedIn, "POST", path, request, token, json=dict(body))

    async def _call(
        self,
        model: type[Model],
        method: str,
        path: str,
        request: Request,
        token: str | None = None,
        **options: Any,
    ) -> Model:
        """Make a call as whose token it is; None: nobody is signed in yet. Raise ClientError."""
        calls = self._api.as_caller(token).calls
        headers = entry.visitor_headers(request)
        try:
            answer = await calls.request(method, path, headers=headers, timeout=TIMEOUT, **options)
        except httpx.TransportError:
            raise unreachable(str(calls.base_url)) from None
        if not answer.is_success:
            raise refusal(answer)
        return model.read(answer.content)


def _sign_in_page(
    ways: Ways, place: str, error: ClientError | None = None, login: str = ""
) -> Response:
    status, problem = (error.status or 503, error.detail) if error else (200, "")
    values = {"ways": ways.items, "place": place, "login": login}
    return forms.page("sign_in.html", TITLE, status, problem, **values)


def _link_page(
    link: OneTimeLink, given: Mapping[str, str] | None = None, problem: str = "", status: int = 200
) -> Response:
    given = given or {}
    values = {name: given.get(name, "") for name in ("login", "name")}
    title, words = LINK_TITLES[link.purpose], LINK_WORDS[link.purpose]
    return forms.page("link.html", title, status or 503, problem, link=link, words=words, **values)


def _ended_link(error: ClientError) -> Response:
    return forms.notice(error.title, error.status or 503, error.detail, SIGN_IN, "To the sign-in")


def _password_page(account: Account, problem: str = "", status: int = 200) -> Response:
    values = {"login": account.login or account.name, "account": ACCOUNT}
    return forms.page("password.html", "Change password", status, problem, **values)


def _link_path(request: Request) -> str:
    return f"one-time-links/{quote(request.path_params['token'], safe='')}"


async def _tell_person(request: Request) -> Response:
    """Tell an open page whose sign-in its browser holds now; the gate refuses if nobody's."""
    person = request.headers.get(PERSON_HEADER, "")
    return PlainTextResponse(person, headers=entry.NOT_STORED)
