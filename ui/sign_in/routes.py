"""The pages' own routes for signing in with a password, by a link, a new password, signing out."""

from collections.abc import Mapping
from functools import partial
from urllib.parse import quote

import httpx
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from backend.schemas.people.account import Account, LinkPurpose, OneTimeLink, SignedIn, Ways
from backend.web.identity import proxied_by
from ui.async_api import AsyncApi
from ui.client import TIMEOUT, ClientError
from ui.sign_in import entry, forms
from ui.sign_in.calls import Once, call, over_safe_ground
from ui.sign_in.checks import Checks, Unavailable
from ui.sign_in.gate import PERSON_HEADER
from ui.sign_in.places import ACCOUNT, HOME, SIGN_IN, own_path, sign_in_path
from ui.sign_in.tokens import Tokens

LEFT = f"{SIGN_IN}/left"
PERSON = "/colloquy/person"
ENDED = (
    "Your sign-in has ended: you signed out elsewhere, were away for long, or may not sign in any "
    "more."
)
DIFFER = "The two passwords differ. Write them again."
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
LEFT_WORDS = (
    "Your pages here are closed. But a proxy signs you in, and still knows you: sign out there,"
    " too, or this browser comes back as you."
)


class SignInRoutes:
    """Signs people in and out: calls the API, which decides, and keeps its token in a cookie."""

    def __init__(self, api: AsyncApi, checks: Checks, tokens: Tokens) -> None:
        self._api = api
        self._checks = checks
        self._tokens = tokens
        self._once = Once()
        self.routes = [
            Route(SIGN_IN, self._offer),
            Route(SIGN_IN, self._sign_in, methods=["POST"]),
            Route(f"{SIGN_IN}/link/{{token}}", self._open_link),
            Route(f"{SIGN_IN}/link/{{token}}", self._use_link, methods=["POST"]),
            Route(f"{SIGN_IN}/password", self._ask_for_password),
            Route(f"{SIGN_IN}/password", self._change_password, methods=["POST"]),
            Route(f"{SIGN_IN}/out", self._ask_to_leave),
            Route(f"{SIGN_IN}/out", self._sign_out, methods=["POST"]),
            Route(LEFT, _say_left),
            Route(PERSON, _tell_person),
        ]

    @over_safe_ground
    async def _offer(self, request: Request) -> Response:
        """Offer the ways of signing in, unless the person has done so or there are none."""
        ways = await self._checks.list_ways()
        place = own_path(request.query_params.get("next"))
        try:
            token = await self._tokens.find(request)
        except ClientError as error:  # whom the proxy names is not let in: nobody else can be
            return forms.sign_in_page(Ways(items=[]), place, error)
        is_signed_in = token is not None and await self._checks.find(token) is not None
        if is_signed_in or not ways.items:
            return RedirectResponse(place, entry.SEE_OTHER, entry.NOT_STORED)
        notice = ENDED if "ended" in request.query_params else ""
        return forms.sign_in_page(ways, place, notice=notice)

    @over_safe_ground
    async def _sign_in(self, request: Request) -> Response:
        given = await forms.read_form(request)
        return await self._once.answer(request, given, partial(self._take_password, request, given))

    async def _take_password(self, request: Request, given: Mapping[str, str]) -> Response:
        place, login = own_path(given.get("next")), given.get("login", "")
        body = {"login": login, "password": given.get("password", "")}
        try:
            signed_in = await call(self._api, SignedIn, "POST", "sign-ins", request, body)
        except ClientError as error:
            ways = await self._checks.list_ways()
            return forms.sign_in_page(ways, place, error, login)
        return await entry.begin(request, self._api, signed_in.token, place)

    @over_safe_ground
    async def _open_link(self, request: Request) -> Response:
        return await self._link_page(request, {})

    @over_safe_ground
    async def _use_link(self, request: Request) -> Response:
        given = await forms.read_form(request)
        return await self._once.answer(request, given, partial(self._take_link, request, given))

    async def _take_link(self, request: Request, given: Mapping[str, str]) -> Response:
        if "password" not in given and (person := proxied_by(request.scope)):
            await self._tokens.begin(person, request, request.path_params["token"])
            return RedirectResponse(HOME, entry.SEE_OTHER, entry.NOT_STORED)
        if given.get("password") != given.get("again"):
            return await self._link_page(request, given, DIFFER, 422)
        body = {name: given[name] for name in ("password", "login", "name") if given.get(name)}
        try:
            signed_in = await call(self._api, SignedIn, "POST", _link_path(request), request, body)
        except ClientError as error:
            return await self._link_page(request, given, error.detail, error.status)
        return await entry.begin(request, self._api, signed_in.token, HOME)

    async def _link_page(
        self, request: Request, given: Mapping[str, str], problem: str = "", status: int = 200
    ) -> Response:
        """Return the page of a one-time link: a password's fields, and the providers."""
        try:
            link = await call(self._api, OneTimeLink, "GET", _link_path(request), request)
        except ClientError as error:
            status, words = error.status or 503, error.detail
            return forms.notice(error.title, status, words, SIGN_IN, "To the sign-in")
        values = {name: given.get(name, "") for name in ("login", "name")}
        more = {
            "link": link,
            "words": LINK_WORDS[link.purpose],
            "ways": (await self._checks.list_ways()).items,
            "token": request.path_params["token"],
            "proxied": _proxied_name(request),
        }
        title = LINK_TITLES[link.purpose]
        return forms.page("link.html", title, status or 503, problem, **values, **more)

    @over_safe_ground
    async def _ask_for_password(self, request: Request) -> Response:
        return await self._set_password(request, None)

    @over_safe_ground
    async def _change_password(self, request: Request) -> Response:
        given = await forms.read_form(request)
        return await self._once.answer(request, given, partial(self._set_password, request, given))

    async def _set_password(self, request: Request, given: Mapping[str, str] | None) -> Response:
        """Show the form, or set the password; the browser then keeps the new sign-in's token."""
        token = await self._tokens.find(request)
        account = await self._checks.find(token) if token else None
        if token is None or account is None:
            return RedirectResponse(sign_in_path(ACCOUNT), entry.SEE_OTHER, entry.NOT_STORED)
        if not account.has_password:
            return RedirectResponse(ACCOUNT, entry.SEE_OTHER, entry.NOT_STORED)
        if given is None:
            return _password_page(account)
        if given.get("password") != given.get("again"):
            return _password_page(account, DIFFER, 422)
        body = {"old": given.get("old", ""), "new": given.get("password", "")}
        try:
            path = "account/password"
            signed_in = await call(self._api, SignedIn, "POST", path, request, body, token)
        except ClientError as error:
            return _password_page(account, error.detail, error.status or 503)
        self._checks.forget(token, account.user_id)
        return await entry.begin(request, self._api, signed_in.token, ACCOUNT)

    @over_safe_ground
    async def _ask_to_leave(self, request: Request) -> Response:
        if not await self._checks.has_accounts():
            return RedirectResponse(HOME, entry.SEE_OTHER, entry.NOT_STORED)
        return forms.page("sign_out.html", "Sign out", is_proxied=_is_proxied(request))

    @over_safe_ground
    async def _sign_out(self, request: Request) -> Response:
        """End this sign-in, or all of the person's; its open pages end with it."""
        is_everywhere = bool((await forms.read_form(request)).get("everywhere"))
        token = await self._tokens.find(request)
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
        return entry.leave(request, LEFT if _is_proxied(request) else SIGN_IN)


def _password_page(account: Account, problem: str = "", status: int = 200) -> Response:
    values = {"login": account.login or account.name, "account": ACCOUNT}
    return forms.page("password.html", "Change password", status, problem, **values)


def _link_path(request: Request) -> str:
    return f"one-time-links/{quote(request.path_params['token'], safe='')}"


async def _tell_person(request: Request) -> Response:
    """Tell an open page whose sign-in its browser holds now; the gate refuses if nobody's."""
    person = request.headers.get(PERSON_HEADER, "")
    return PlainTextResponse(person, headers=entry.NOT_STORED)


def _proxied_name(request: Request) -> str | None:
    person = proxied_by(request.scope)
    return (person.name or person.user) if person else None


def _is_proxied(request: Request) -> bool:
    return proxied_by(request.scope) is not None


async def _say_left(_: Request) -> Response:
    """Say what signing out means where a proxy signs people in: it still knows them."""
    return forms.notice("Signed out", 200, "", HOME, "Sign in again", LEFT_WORDS)
