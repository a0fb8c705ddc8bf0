"""The addresses that a server answers under, derived from PUBLIC_URL and ALLOWED_HOSTS."""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
DEFAULT_PORTS: Mapping[str, int] = {"http": 80, "https": 443}
MAX_PORT = 65_535
# RFC 9112, 3.2: one name or address and an optional port; no user, no path.
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?))(?::(\d{1,5}))?")

Networks = tuple[IPv4Network | IPv6Network, ...]
Host = tuple[str, int | None]  # a lower-case name or an address, and the port if given
Origin = tuple[str, str, int]  # the scheme, the name and the port


def read_host(text: str) -> Host | None:
    """Return the host and port of a `Host` header; None if it is malformed."""
    found = HOST.fullmatch(text.lower())
    if found is None:
        return None
    address, name, port = found.groups()
    if port and int(port) > MAX_PORT:
        return None
    try:
        name = name or ipaddress.IPv6Address(address).compressed
    except ValueError:
        return None
    return name, int(port) if port else None


def check_public_url(url: str) -> str:
    """Return PUBLIC_URL as an origin; empty if it is empty. Raise ValueError."""
    return _origin_text(*_read_url(url)) if url else url


def check_allowed_hosts(text: str) -> str:
    """Return ALLOWED_HOSTS unchanged. Raise ValueError if it is not a list of hosts."""
    for name in _names(text):
        if read_host(name) is None:
            raise ValueError(
                "must be host names, each with a port or without, and without wildcards, such as "
                "desk.example.com,desk.internal:8501"
            )
    return text


def read_networks(text: str) -> Networks:
    """Return the networks of a comma-separated list. Raise ValueError."""
    names = filter(None, map(str.strip, text.split(",")))
    try:
        return tuple(ipaddress.ip_network(name) for name in names)
    except ValueError:
        raise ValueError(
            "must be addresses or networks, comma-separated, such as 10.0.0.5,10.1.0.0/16"
        ) from None


def read_servers(text: str) -> tuple[str, ...]:
    """Return the addresses of a comma-separated list, without final slashes. Raise ValueError."""
    found = tuple(dict.fromkeys(one.strip().rstrip("/") for one in text.split(",")))
    for url in found:
        try:
            parts = urlsplit(url)
            is_one = parts.scheme in DEFAULT_PORTS and read_host(parts.netloc) is not None
        except ValueError:
            is_one = False
        if not is_one or "?" in url or "#" in url:
            raise ValueError(
                "must be one address or several, comma-separated, each with http:// or https:// and"
                " a host, such as http://10.0.0.11:8000,http://10.0.0.12:8000"
            )
    return found


def http_url(host: str, port: int) -> str:
    """Return the address of a server that listens on `host` and `port`."""
    return f"http://{_bracketed(host.strip('[]'))}:{port}"


def one_time_link(pages_url: str, token: str) -> str:
    """Return the address at which a person sets the password that a one-time link permits."""
    return f"{pages_url}/sign-in/link/{token}"


@dataclass(frozen=True)
class Address:
    """Where one server listens, and the other addresses under which clients reach it."""

    host: str
    port: int
    public_url: str = ""
    allowed_hosts: str = ""

    @property
    def url(self) -> str:
        """The URL that people open."""
        return self.public_url or http_url(self.host, self.port)

    @property
    def public_host(self) -> str:
        """The name in the URL that people open."""
        return _read_url(self.url)[1]

    @property
    def public_port(self) -> int:
        """The port in the URL that people open, named there or not."""
        return _read_url(self.url)[2]

    @cached_property
    def origins(self) -> frozenset[str]:
        """The origins of our own pages, as browsers write them."""
        return frozenset(_origin_text(*origin) for origin in self._reached())

    @cached_property
    def schemes(self) -> Mapping[Host, str]:
        """The hosts that are answered, each with the scheme it is reached by."""
        hosts: dict[Host, str] = {(name, None): "http" for name in LOOPBACK}
        for scheme, name, port in self._reached():
            hosts[name, port] = scheme
            if port == DEFAULT_PORTS[scheme]:
                hosts[name, None] = scheme
        return hosts

    def scheme_of(self, host: Host) -> str | None:
        """Return the scheme by which a host is reached; None if it is not answered.

        A loopback name is answered with any port: no page of another site can have that name, and
        a forwarded port or a proxy on this machine uses its own port.
        """
        name, _ = host
        return self.schemes.get(host) or self.schemes.get(
            (name, None) if name in LOOPBACK else host
        )

    def _reached(self) -> Iterator[Origin]:
        for name in dict.fromkeys((*LOOPBACK, _read_url(http_url(self.host, self.port))[1])):
            yield "http", name, self.port
        scheme = "http"
        if self.public_url:
            scheme = _read_url(self.public_url)[0]
            yield _read_url(self.public_url)
        for text in _names(self.allowed_hosts):
            name, port = read_host(text) or ("", None)
            # Without a port: as browsers see it behind a proxy, and as this server writes it.
            if port is None:
                yield "http", name, self.port
            yield scheme, name, port or DEFAULT_PORTS[scheme]


def _read_url(url: str) -> Origin:
    try:
        parts = urlsplit(url)
        host = read_host(parts.netloc)
    except ValueError:
        parts, host = urlsplit(""), None
    rest = parts.path.strip("/") + parts.query + parts.fragment
    if parts.scheme not in DEFAULT_PORTS or host is None or rest:
        raise ValueError(
            "must be http:// or https://, a host and perhaps a port, without a path, such as "
            "https://desk.example.com"
        )
    return parts.scheme, host[0], host[1] or DEFAULT_PORTS[parts.scheme]


def _origin_text(scheme: str, name: str, port: int) -> str:
    """Return an origin in RFC 6454 form: the port only if it is not the scheme's default."""
    suffix = "" if port == DEFAULT_PORTS[scheme] else f":{port}"
    return f"{scheme}://{_bracketed(name)}{suffix}"


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
