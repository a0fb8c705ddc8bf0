"""The cookies of signing in: written for a browser, and read from its requests.

One holds a sign-in's token. The other lasts for minutes, while a person is at a provider: only the
browser that began brings its answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from starlette.requests import HTTPConnection
from starlette.responses import Response

from backend.addresses import LOOPBACK, read_host

# Browsers accept this name only over https, for this host alone and from nowhere but this host:
# RFC 6265bis, 4.1.3.2.
OVER_HTTPS = "__Host-colloquy"
ON_LOOPBACK = "colloquy"
VISIT = "-visit"  # ends the name of the cookie of a visit to a provider
OURS = frozenset(name + end for name in (OVER_HTTPS, ON_LOOPBACK) for end in ("", VISIT))
LONGEST = 200  # characters of a token
LONGEST_PLACE = 3_000  # as written into a cookie; browsers keep 4,096 characters of one
BEGINNING = "cqs_"
KEY = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Visit:
    """What a browser keeps while its person is at a provider: a key, and where they wanted to go.

    One browser has one key for all of its visits: several tabs may be at a provider.
    """

    key: str
    place: str


def name_for(connection: HTTPConnection, end: str = "") -> str | None:
    """Return the cookie's name; None where a cookie would cross a network that others can read."""
    if connection.url.scheme in ("https", "wss"):
        return OVER_HTTPS + end
    host = read_host(connection.headers.get("host", ""))
    return ON_LOOPBACK + end if host and host[0] in LOOPBACK else None


def find_token(connection: HTTPConnection) -> str | None:
    """Return the token that a browser sent, before anybody has checked it; None without one."""
    name = name_for(connection)
    return checked(connection.cookies.get(name)) if name else None


def token_of(cookies: Mapping[str, str]) -> str | None:
    """Return the token among the cookies that the gate has let through; see `ui.sign_in.gate`."""
    return checked(cookies.get(ON_LOOPBACK))


def set_token(connection: HTTPConnection, response: Response, token: str) -> None:
    """Have a browser keep a token until the person signs out; its end is the API's to decide."""
    if name := name_for(connection):
        _set(response, name, token)


def find_visit(connection: HTTPConnection) -> Visit | None:
    """Return what the browser has kept since it went to a provider, if it went there."""
    name = name_for(connection, VISIT)
    key, _, place = (connection.cookies.get(name, "") if name else "").partition(".")
    return Visit(key, unquote(place)) if KEY.fullmatch(key) else None


def set_visit(
    connection: HTTPConnection, response: Response, visit: Visit, lasts_seconds: int
) -> None:
    """Have a browser keep a visit for so long."""
    place = quote(visit.place, safe="/")
    kept = place if len(place) <= LONGEST_PLACE else ""
    if name := name_for(connection, VISIT):
        _set(response, name, f"{visit.key}.{kept}", lasts_seconds)


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


def _set(response: Response, name: str, value: str, seconds: int | None = None) -> None:
    is_https = name.startswith(OVER_HTTPS)
    response.set_cookie(
        name, value, seconds, path="/", secure=is_https, httponly=True, samesite="lax"
    )
