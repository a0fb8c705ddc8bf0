"""The cookie that holds a sign-in's token: written for a browser, and read from its requests."""

from collections.abc import Mapping

from starlette.requests import HTTPConnection
from starlette.responses import Response

from backend.addresses import LOOPBACK, read_host

# Browsers accept this name only over https, for this host alone and from nowhere but this host:
# RFC 6265bis, 4.1.3.2.
OVER_HTTPS = "__Host-colloquy"
ON_LOOPBACK = "colloquy"
LONGEST = 200  # characters of a token
BEGINNING = "cqs_"


def name_for(connection: HTTPConnection) -> str | None:
    """Return the cookie's name; None where a cookie would cross a network that others can read."""
    if connection.url.scheme in ("https", "wss"):
        return OVER_HTTPS
    host = read_host(connection.headers.get("host", ""))
    return ON_LOOPBACK if host and host[0] in LOOPBACK else None


def find_token(connection: HTTPConnection) -> str | None:
    """Return the token that a browser sent, before anybody has checked it; None without one."""
    name = name_for(connection)
    return checked(connection.cookies.get(name)) if name else None


def token_of(cookies: Mapping[str, str]) -> str | None:
    """Return the token among the cookies that the gate has let through; see `ui.sign_in.gate`."""
    return checked(cookies.get(ON_LOOPBACK))


def set_token(connection: HTTPConnection, response: Response, token: str) -> None:
    """Have a browser keep a token until the person signs out; its end is the API's to decide."""
    name = name_for(connection)
    if name:
        response.set_cookie(
            name, token, path="/", secure=name == OVER_HTTPS, httponly=True, samesite="lax"
        )


def clear_token(connection: HTTPConnection, response: Response) -> None:
    """Have a browser forget its token."""
    name = name_for(connection)
    if name:
        response.delete_cookie(
            name, path="/", secure=name == OVER_HTTPS, httponly=True, samesite="lax"
        )


def checked(token: str | None) -> str | None:
    """Return what has the form of a sign-in's token."""
    is_one = token and token.startswith(BEGINNING) and len(token) <= LONGEST and token.isascii()
    return token if is_one else None
