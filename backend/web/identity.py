"""Identity headers: who a proxy in front of this server has let in.

They are believed only from trusted addresses, and removed from all requests: nothing behind this
layer can take a browser's own headers for a proxy's.
"""

import ipaddress
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Self

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.addresses import Networks
from backend.web.guard import Refuse, refuse_in_words

KEY = "colloquy.proxied"  # in the scope of a request
LONGEST = 200
MOST_GROUPS = 1_000
UNCLEAR = (
    "The proxy has sent the header {name} more than once, or in a form that cannot be read. Have it"
    " replace what browsers send, and write names in UTF-8."
)


@dataclass(frozen=True)
class Proxied:
    """A person as a trusted proxy names them."""

    user: str
    email: str | None = None
    name: str | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class HeaderNames:
    """The headers in which a proxy names a person."""

    user: str
    email: str
    name: str
    groups: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the names of a comma-separated list, in the order of the fields."""
        return cls(*text.split(","))

    @property
    def all(self) -> tuple[str, ...]:
        """Return them in the order of the fields."""
        return self.user, self.email, self.name, self.groups


class Unclear(ValueError):
    """A header cannot be read; its name is the text."""


class IdentityHeaders:
    """Keeps who a trusted proxy has let in for `proxied_by`, and removes the headers."""

    def __init__(
        self,
        app: ASGIApp,
        proxies: Networks,
        names: HeaderNames,
        refuse: Refuse = refuse_in_words,
    ) -> None:
        self._app = app
        self._proxies = proxies
        self._names = names
        self._removed = frozenset(name.lower().encode() for name in names.all)
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on without the headers, or refuse what a proxy has sent unclearly."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            person = self._read(scope) if is_from(scope, self._proxies) else None
        except Unclear as error:
            detail = UNCLEAR.format(name=error)
            await self._refuse(scope, 400, "Unclear identity", detail)(scope, receive, send)
            return
        kept = [pair for pair in scope["headers"] if pair[0].lower() not in self._removed]
        await self._app({**scope, "headers": kept, KEY: person}, receive, send)

    def _read(self, scope: Scope) -> Proxied | None:
        headers = Headers(scope=scope)
        user, email, name, groups = (_value(headers, one) for one in self._names.all)
        if user is None:
            return None
        if len(user) > LONGEST:
            raise Unclear(self._names.user)
        found = dict.fromkeys(filter(None, map(str.strip, (groups or "").split(","))))
        return Proxied(user, email, name, tuple(found)[:MOST_GROUPS])


def proxied_by(scope: Scope) -> Proxied | None:
    """Return whom a trusted proxy has named in this request."""
    found: Proxied | None = scope.get(KEY)
    return found


def is_from(scope: Scope, networks: Networks) -> bool:
    """Return whether a request's connection comes from one of these networks."""
    client = scope.get("client")
    try:
        address = ipaddress.ip_address(client[0] if client else "")
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any((mapped or address) in network for network in networks)


def _value(headers: Headers, name: str) -> str | None:
    """Return a header's text; None if it is absent or empty. Raise Unclear.

    Twice means that a browser's own header came through beside the proxy's.
    """
    values = headers.getlist(name)
    if len(values) > 1:
        raise Unclear(name)
    try:
        text = "".join(values).encode("latin-1").decode().strip()
    except UnicodeError:
        raise Unclear(name) from None
    if not text.isprintable():
        raise Unclear(name)
    return text or None
