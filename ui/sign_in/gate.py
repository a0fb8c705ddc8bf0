"""The gate: where people sign in, everything that a browser reaches is asked for its identity.

What passes carries the identity that was found, and nothing that a browser claims: the token as the
only cookie of ours, and headers for Streamlit and the first HTML. Streamlit resumes one of its
sessions only for the sign-in that began it, because it is told to trust the header. Whether people
sign in or not, no file is sent to Streamlit or fetched from it. It keeps them in the memory of one
server, for whoever knows the address: browsers send files to the API (`ui.shared.uploads`), and
what pages hand out are links to it (`ui.shared.downloads`).
"""

import asyncio
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.schemas.people.account import Account
from ui.client import ClientError
from ui.cookies import ON_LOOPBACK, OURS
from ui.sign_in.checks import Checks, Unavailable
from ui.sign_in.places import is_of_sign_in, sign_in_path
from ui.sign_in.tokens import Tokens

SIGN_IN_HEADER = "x-colloquy-sign-in"
PERSON_HEADER = "x-colloquy-person"
ENDED = 4401  # the browser's scripts then ask who is signed in: `ui/assets/signed_in.js`
# Our scripts and Streamlit's, the icon, and the probe: the same for everybody, and nobody's.
OPEN = ("/colloquy/assets/", "/static/")
OPEN_PATHS = frozenset({"/_stcore/health", "/favicon.png"})
FILES = ("/media/", "/_stcore/upload_file/")  # Streamlit's
NOT_STORED = {"Cache-Control": "no-store"}


class Gate:
    """Lets only those requests and sockets pass whose sign-in holds; with AUTH=none, all."""

    def __init__(self, app: ASGIApp, checks: Checks, tokens: Tokens) -> None:
        self._app = app
        self._checks = checks
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on as the person who is signed in, or refuse it."""
        if scope["type"] == "lifespan" or _is_open(scope):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        token, refusal, account = await self._ask(connection)
        if refusal is None and scope["path"].startswith(FILES):
            refusal = _problem(404, "Pages keep no files. Reload the page.")
        if refusal is not None:
            await _refuse(refusal, scope, receive, send)
            return
        scope = _identified(scope, token, account)
        if scope["type"] == "websocket":
            await self._follow(token, scope, receive, send)
        else:
            await self._app(scope, receive, send if account is None else _not_stored(send))

    async def _ask(
        self, connection: HTTPConnection
    ) -> tuple[str | None, Response | None, Account | None]:
        """Return the token, and a refusal or whose request it is; nothing where nobody signs in."""
        if not await self._checks.has_accounts():
            return None, None, None
        try:
            token = await self._tokens.find(connection)
            account = await self._checks.find(token) if token else None
        except Unavailable:
            return None, _problem(503, "The service does not answer. Try again in a moment."), None
        except ClientError:  # the sign-in page says why
            return None, _sign_in_first(connection), None
        if account is None:
            return None, _sign_in_first(connection), None
        return token, None, account

    async def _follow(self, token: str | None, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a socket until its sign-in ends, however busy it is."""
        with self._checks.watching(token) as ended:
            serving = asyncio.ensure_future(self._app(scope, receive, send))
            try:
                await asyncio.wait({serving, ended}, return_when=asyncio.FIRST_COMPLETED)
                has_ended = not serving.done()
            finally:
                if not serving.done():
                    serving.cancel()
                    await asyncio.wait({serving})
        if has_ended:
            await send({"type": "websocket.close", "code": ENDED})
        elif not serving.cancelled():
            serving.result()


def _is_open(scope: Scope) -> bool:
    """Return whether a request needs no identity: the same answer for all, or the way to one."""
    path = scope["path"]
    is_asset = path in OPEN_PATHS or path.startswith(OPEN)
    return scope["type"] == "http" and (is_asset or is_of_sign_in(path))


def _identified(scope: Scope, token: str | None, account: Account | None) -> Scope:
    """Return the request with this identity in place of all that it says of itself."""
    given = Headers(scope=scope)
    claimed = {"authorization", "cookie", SIGN_IN_HEADER, PERSON_HEADER}
    headers = [(name, value) for name, value in given.raw if name.decode("latin-1") not in claimed]
    cookies = [each.strip() for line in given.getlist("cookie") for each in line.split(";")]
    kept = [each for each in cookies if each and each.partition("=")[0].strip() not in OURS]
    if account is not None:
        kept.append(f"{ON_LOOPBACK}={token}")
        headers.append((SIGN_IN_HEADER.encode(), str(account.sign_in).encode()))
        headers.append((PERSON_HEADER.encode(), account.user_id.encode()))
    if kept:
        headers.append((b"cookie", "; ".join(kept).encode("latin-1")))
    return {**scope, "headers": headers}


def _not_stored(send: Send) -> Send:
    """Have no browser keep an answer for the next person; what is nobody's says so itself."""

    async def pass_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).setdefault("Cache-Control", NOT_STORED["Cache-Control"])
        await send(message)

    return pass_on


def _sign_in_first(connection: HTTPConnection) -> Response:
    """Return the redirect of a page that somebody opens to the sign-in; 401 for all else."""
    headers = connection.headers
    mode = headers.get("sec-fetch-mode")
    is_opened = mode == "navigate" or (mode is None and "text/html" in headers.get("accept", ""))
    if connection.scope.get("method") not in ("GET", "HEAD") or not is_opened:
        return _problem(401, "You are not signed in, or your sign-in has ended. Sign in again.")
    path, query = connection.url.path, connection.url.query
    place = path + (f"?{query}" if query else "")
    return RedirectResponse(sign_in_path(place), HTTPStatus.SEE_OTHER, NOT_STORED)


def _problem(status: int, detail: str) -> Response:
    body = {"title": HTTPStatus(status).phrase, "detail": detail, "status": status}
    return JSONResponse(body, status, NOT_STORED, media_type="application/problem+json")


async def _refuse(refusal: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
        await refusal(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": ENDED})
