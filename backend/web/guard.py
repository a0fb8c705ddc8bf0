"""Request origin checks: keep pages of other sites out of servers that trust loopback clients."""

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.addresses import Address, read_host

Refuse = Callable[[Scope, int, str, str], Response]

# Sec-Fetch-Site values of requests by our own pages, and of those that a person typed or opened.
OWN_SITES = frozenset({"same-origin", "none"})
# A link followed from another site: it changes nothing, and that site cannot read the response.
FOLLOWED_LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
POLICY_VIOLATION = 1008

HOST_WORDS = (
    "Colloquy is not available under this host name. Open it at its own address, or add this one "
    "to PUBLIC_URL or ALLOWED_HOSTS."
)
PAGE_WORDS = (
    "Pages of other sites may not use Colloquy. Open it at its own address, or set PUBLIC_URL to "
    "the address that you use."
)


def refuse_in_words(_: Scope, status: int, title: str, detail: str) -> Response:
    """Return a refusal as plain text, for a person who reads it in the browser."""
    return PlainTextResponse(f"{title}. {detail}\n", status)


class Guard:
    """Refuses requests with a foreign host name (DNS rebinding) or from a foreign page.

    A program that sends neither Origin nor Sec-Fetch-Site passes, also for WebSockets: browsers
    always send an Origin with those, and a program on this machine could send any.
    """

    def __init__(self, app: ASGIApp, address: Address, refuse: Refuse = refuse_in_words) -> None:
        self._app = app
        self._scheme_of = address.scheme_of
        self._origins = address.origins
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the scheme its host is reached by, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scheme = self._scheme(headers)
        refusal = self._refusal(scope, headers, scheme)
        if refusal:
            await _send_refusal(refusal, scope, receive, send)
            return
        if scheme == "https":
            scope = {**scope, "scheme": "wss" if scope["type"] == "websocket" else "https"}
        await self._app(scope, receive, send)

    def _scheme(self, headers: Headers) -> str | None:
        hosts = headers.getlist("host")
        host = read_host(hosts[0]) if len(hosts) == 1 else None
        return self._scheme_of(host) if host else None

    def _refusal(self, scope: Scope, headers: Headers, scheme: str | None) -> Response | None:
        if scheme is None:
            # More than one Host has a status of its own: RFC 9112, 3.2.
            status = 400 if len(headers.getlist("host")) > 1 else 421
            return self._refuse(scope, status, "Unknown host", HOST_WORDS)
        if not self._is_ours(scope, headers):
            return self._refuse(scope, 403, "Foreign page", PAGE_WORDS)
        return None

    def _is_ours(self, scope: Scope, headers: Headers) -> bool:
        """Return whether our own page, a person or a program sent the request, as headers show."""
        origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
        if origins and (len(origins) > 1 or origins[0] not in self._origins):
            return False
        if not sites or (len(sites) == 1 and sites[0] in OWN_SITES):
            return True
        return not origins and _is_followed_link(scope, headers)


def _is_followed_link(scope: Scope, headers: Headers) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return all(headers.getlist(name) == [value] for name, value in FOLLOWED_LINK.items())


async def _send_refusal(refusal: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a refusal; instead of a WebSocket's handshake, if the server supports that."""
    if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
        await refusal(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
