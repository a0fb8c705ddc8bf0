"""The HTTP client that asks models' endpoints, the same for turns and for tests of a connection."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, cast

import httpx2

from backend.errors.base import ConfigurationError
from backend.outgoing.connecting import guard
from backend.outgoing.policy import Outgoing
from backend.web.inflate import Inflated, NotInflatable

MAX_ERROR_BYTES = 64 * 2**10
_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


class RedirectedElsewhere(httpx2.RequestError):
    """The endpoint redirects to `target`, another host, which is sent nothing."""

    def __init__(self, host: str, target: str) -> None:
        super().__init__(
            f"{host} redirects to {target}, another host, which was sent nothing. If that is the"
            " endpoint, enter its address."
        )


def open_client(
    outgoing: Outgoing,
    *,
    trust_env: bool = True,
    headers: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> httpx2.AsyncClient:
    """Return a client that trusts the system's certificates and uses the environment's proxy.

    Whoever the conversation is sent to was chosen by a person, so a redirect is followed only to
    the same host. Of an error only the first bytes are read. Answers are requested uncompressed;
    bounds count what comes out of the decompression, because that has to be held.
    Raise ConfigurationError if the environment names a proxy or a file that cannot be used.
    """
    try:
        client = httpx2.AsyncClient(
            follow_redirects=True,
            trust_env=trust_env,
            headers={"Accept-Encoding": "identity", **headers},
            event_hooks={"response": [_stay_on_host, _bound_error]},
            **options,
        )
    except (ImportError, ValueError, OSError) as error:
        given = [
            name for name in _VARIABLES if os.environ.get(name) or os.environ.get(name.lower())
        ]
        raise ConfigurationError(
            "Models cannot be asked: the environment has a proxy that is not an http:// or https://"
            f" address, or a file of certificates that cannot be read. Correct {', '.join(given)}."
        ) from error
    return guard(client, outgoing)


async def _stay_on_host(response: httpx2.Response) -> None:
    """Raise RedirectedElsewhere for a redirect, unless to the same host, there also to TLS."""
    if not response.has_redirect_location:
        return
    target = response.url.join(response.headers["location"])
    source = response.url
    is_upgrade = (source.scheme, target.scheme) == ("http", "https") and target.port is None
    if target.origin == source.origin or (is_upgrade and target.host == source.host):
        return
    raise RedirectedElsewhere(source.netloc.decode("ascii"), target.netloc.decode("ascii"))


async def _bound_error(response: httpx2.Response) -> None:
    if not response.is_success:
        response.stream = _Beginning(response)


class _Beginning(httpx2.AsyncByteStream):
    """The first bytes of a body, as far as they can be decompressed."""

    def __init__(self, response: httpx2.Response) -> None:
        self._body = cast(httpx2.AsyncByteStream, response.stream)
        self._content = Inflated(response.headers, self._body)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_ERROR_BYTES
        with suppress(NotInflatable):
            async for chunk in self._content:
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    return

    async def aclose(self) -> None:
        await self._body.aclose()
