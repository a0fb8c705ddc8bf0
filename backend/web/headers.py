"""Headers of every response: what its page may load, and who may embed or read it."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "content-security-policy"
# For a response that is not a page: if a browser shows it anyway, it loads and runs nothing.
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
HTTPS_ONLY = "max-age=31536000; includeSubDomains"
NOT_STORED = "no-store"
STARTS = frozenset({"http.response.start", "websocket.http.response.start"})


class SecurityHeaders:
    """Adds the headers to each response; outermost, so that refusals and errors get them too."""

    def __init__(self, app: ASGIApp, policy: str = NOTHING) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a response that has its own policy keeps it."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] in STARTS:
                headers = MutableHeaders(scope=message)
                headers.update(ALWAYS)
                headers.setdefault(POLICY, self._policy)
                if self._policy == NOTHING:  # a person's data, and no page with its assets
                    headers.setdefault("Cache-Control", NOT_STORED)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class SecureTransport:
    """Over https, marks cookies as Secure and tells the browser to come over https only."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the browser may use https although the proxy connects over http."""

        async def send_secure(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*map(_secure, message.get("headers", []))]}
                MutableHeaders(scope=message)["Strict-Transport-Security"] = HTTPS_ONLY
            await send(message)

        is_https = scope["type"] == "http" and scope["scheme"] == "https"
        await self._app(scope, receive, send_secure if is_https else send)


def _secure(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = header
    if name.lower() != b"set-cookie" or b"; secure" in value.lower():
        return header
    return name, value + b"; Secure"
