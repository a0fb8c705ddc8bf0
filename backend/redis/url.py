"""What REDIS_URL names: a server, or the Sentinels that know which server is the master."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from redis.connection import parse_url

SENTINEL = "+sentinel"
SCHEMES = ("redis", "rediss", "unix", f"redis{SENTINEL}", f"rediss{SENTINEL}")
SENTINEL_PORT = 26379
MOST_PORT = 65535
# A name, an IPv4 address or an IPv6 address in brackets, and its port.
_PLACE = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::(?P<port>\d{1,5}))?")
_SERVICE = re.compile(r"(?P<service>[\w.-]+)(?:/(?P<number>\d*))?", re.ASCII)


class SentinelUrl(NamedTuple):
    """Where the Sentinels are, by which name they know the master, and how both are connected to.

    `options` and `sentinel_options` are keyword arguments of redis-py's connections.
    """

    places: Sequence[tuple[str, int]]
    service: str
    is_encrypted: bool
    options: Mapping[str, Any]
    sentinel_options: Mapping[str, Any]


def is_sentinel_url(url: str) -> bool:
    """Return whether a URL names Sentinels."""
    return url.partition("://")[0].endswith(SENTINEL)


def read_sentinel_url(url: str) -> SentinelUrl:
    """Read `redis+sentinel://user:password@a:26379,b:26379/SERVICE/0?sentinel_password=…`.

    User, password and number are the server's. `rediss+sentinel` encrypts the connections to both,
    by the same `ssl_…` parameters. Raise ValueError, which never repeats the URL.
    """
    scheme, _, rest = url.partition("://")
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    login, mark, places = authority.rpartition("@")
    if "@" in login or "#" in url:
        raise ValueError("percent-encode special characters of a password (%40 for @, %23 for #)")
    target = _SERVICE.fullmatch(path)
    if target is None:
        raise ValueError(
            "must name the master as its Sentinels do, and the database by its number, such as"
            f" redis{SENTINEL}://a:{SENTINEL_PORT},b:{SENTINEL_PORT}/mymaster/0"
        )
    # What a URL of one server may say holds here, too: redis-py reads it.
    plain = scheme.removesuffix(SENTINEL)
    server = f"{plain}://{login}{mark}master/{target['number'] or 0}?{query}"
    options: dict[str, Any] = parse_url(server)  # type: ignore[no-untyped-call]  # redis-py's
    del options["host"]
    is_encrypted = options.pop("connection_class", None) is not None
    of_sentinels = {
        name: options.pop(f"sentinel_{name}")
        for name in ("username", "password")
        if f"sentinel_{name}" in options
    }
    if is_encrypted:
        of_tls = {name: value for name, value in options.items() if name.startswith("ssl_")}
        of_sentinels |= {"ssl": True, **of_tls}
    found = tuple(_place(text) for text in places.split(","))
    return SentinelUrl(found, target["service"], is_encrypted, options, of_sentinels)


def _place(text: str) -> tuple[str, int]:
    found = _PLACE.fullmatch(text)
    port = int((found and found["port"]) or SENTINEL_PORT)
    if found is None or not 0 < port <= MOST_PORT:
        raise ValueError(
            "has a Sentinel that cannot be read: they are listed as host:port,host:port; "
            "percent-encode special characters of a password (%2F for /)"
        )
    return found["v6"] or found["name"], port
