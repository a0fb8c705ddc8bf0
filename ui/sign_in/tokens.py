"""With which token a request acts: that of whom a trusted proxy names, else its cookie's.

A person whom a proxy names is signed in by the pages' server, which keeps their token; their
browser never has it.
"""

import asyncio
import os
from collections import OrderedDict

from starlette.requests import HTTPConnection

from backend.schemas.people.account import SignedIn
from backend.web.identity import Proxied, proxied_by
from ui.async_api import AsyncApi
from ui.client import ServiceUnavailable
from ui.cookies import find_token
from ui.sign_in.calls import call
from ui.sign_in.checks import Checks, Unavailable

MOST_KEPT = 10_000


class Tokens:
    """Finds tokens, for all browsers of this process."""

    def __init__(self, api: AsyncApi, checks: Checks) -> None:
        self._api = api
        self._checks = checks
        self._kept: OrderedDict[Proxied, str] = OrderedDict()
        self._beginning: dict[Proxied, asyncio.Task[str]] = {}

    async def find(self, connection: HTTPConnection) -> str | None:
        """Return the token, which may have ended if it is a cookie's; None without one.

        Raise ClientError if whom the proxy names is not let in, Unavailable.
        """
        person = proxied_by(connection.scope)
        if person is None:
            return find_token(connection)
        kept = self._kept.get(person)
        if kept is not None and await self._checks.find(kept) is not None:
            self._kept.move_to_end(person)
            return kept
        if (beginning := self._beginning.get(person)) is None:
            beginning = asyncio.create_task(self.begin(person, connection))
            self._beginning[person] = beginning
            beginning.add_done_callback(lambda _: self._beginning.pop(person, None))
        try:
            return await asyncio.shield(beginning)  # others may wait for it, too
        except ServiceUnavailable:
            raise Unavailable from None

    async def begin(
        self, person: Proxied, connection: HTTPConnection, link: str | None = None
    ) -> str:
        """Sign in whom the proxy names: somebody new, or with other groups than before.

        A one-time link's token makes them the invited person. Raise ClientError.
        """
        body = {
            "user": person.user,
            "email": person.email,
            "name": person.name,
            "groups": list(person.groups),
            "link_token": link,
        }
        key = os.environ.get("PAGES_KEY")
        signed_in = await call(self._api, SignedIn, "POST", "sign-ins/proxy", connection, body, key)
        self._kept[person] = signed_in.token
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return signed_in.token
