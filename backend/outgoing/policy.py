"""Where connections may go that a configuration names: tool servers, models, providers, mail.

On a laptop (AUTH=none) that is anywhere except a cloud's metadata: the person who configures is
the one who owns the machine. With accounts it is the internet, and what OUTGOING_ALLOWED lists.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlsplit

from backend.addresses import DEFAULT_PORTS, read_host
from backend.errors.outgoing import AddressRefused
from backend.outgoing.addresses import (
    METADATA,
    IPAddress,
    IPNetwork,
    inside,
    is_metadata,
    is_this_machine,
    plain,
    read_address,
)

Resolver = Callable[[str, int], Sequence[str]]

logger = logging.getLogger(__name__)


def look_up(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, the preferred one first. Raise OSError or UnicodeError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(_written(sockaddr) for *_, sockaddr in found))


@dataclass(frozen=True)
class Entry:
    """One entry of OUTGOING_ALLOWED: a name or a network; without a port: any port."""

    name: str = ""
    network: IPNetwork | None = None
    port: int = 0

    @classmethod
    def read(cls, text: str) -> Self:
        """Return an entry as it is written. Raise ValueError."""
        try:
            return cls(network=ipaddress.ip_network(text))
        except ValueError:
            host, port = read_host(text) or ("", None)
        if not host or port == 0:
            raise ValueError(text)
        return cls.of(host, port or 0)

    @classmethod
    def of(cls, host: str, port: int = 0) -> Self:
        """Return the entry for one host."""
        address = read_address(host)
        if address is None:
            return cls(_same(host), port=port)
        return cls(network=ipaddress.ip_network(address), port=port)

    def permits(self, host: str, port: int, address: IPAddress) -> bool:
        """Return whether the address of a host may be connected to.

        Metadata is permitted only by an entry for that address itself, or for a part of its
        network: neither by a name nor by a large network, which may not mean it.
        """
        if self.port not in (0, port):
            return False
        if self.network is None:
            return self.name == _same(host) and not is_metadata(address)
        if address not in self.network and plain(address) not in self.network:
            return False
        return not is_metadata(address) or any(_is_within(self.network, one) for one in METADATA)


@dataclass(frozen=True)
class Outgoing:
    """The rule for all connections that a configuration names, and the one look-up of each.

    `resolve` is called once for each connection, and what is connected to is one of the addresses
    that it returned: a name that means another address a moment later changes nothing.
    """

    entries: tuple[Entry, ...] = ()
    permits_inside: bool = False
    resolve: Resolver = look_up

    def trusting(self, *urls: str) -> Self:
        """Return the rule with the hosts of these URLs, which the operator wrote himself."""
        parts = (urlsplit(url) for url in urls if url)
        entries = (
            Entry.of(part.hostname or "", part.port or DEFAULT_PORTS.get(part.scheme, 0))
            for part in parts
        )
        return replace(self, entries=(*self.entries, *entries))

    def check(self, host: str, port: int) -> None:
        """Raise AddressRefused for an address; a name is checked when it is resolved.

        For connections through a proxy, which resolves names by itself.
        """
        address = read_address("127.0.0.1" if is_this_machine(host) else host)
        if address is not None:
            self._check_all(host, port, [str(address)])

    def find(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses to connect to. Raise AddressRefused if any of them is refused.

        Raise OSError or UnicodeError if there is no such host; where addresses are refused, this
        is the same refusal, so that nobody learns which names exist inside.
        """
        address = read_address(host)
        if address is not None:
            return self._check_all(host, port, [str(address)])
        try:
            found = self.resolve(host, port)
        except (OSError, UnicodeError) as error:
            if self.permits_inside or any(entry.name == _same(host) for entry in self.entries):
                raise
            raise self._refused(host, port, f"it cannot be resolved: {error}") from None
        return self._check_all(host, port, found)

    async def afind(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses as `find` does, without blocking the loop."""
        if read_address(host) is not None:
            return self.find(host, port)
        return await asyncio.to_thread(self.find, host, port)

    def _check_all(self, host: str, port: int, found: Sequence[str]) -> Sequence[str]:
        for text in found:
            address = ipaddress.ip_address(text)
            if any(entry.permits(host, port, address) for entry in self.entries):
                continue
            kind = "metadata" if is_metadata(address) else inside(address)
            if kind == "metadata" or (kind and not self.permits_inside):
                raise self._refused(host, port, f"{text} is {kind}")
        return found

    def _refused(self, host: str, port: int, reason: str) -> AddressRefused:
        fields = {"host": host, "port": port, "reason": reason}
        logger.warning("outgoing connection refused: %s:%s, %s", host, port, reason, extra=fields)
        return AddressRefused()


def read_entries(text: str) -> tuple[Entry, ...]:
    """Return the entries of OUTGOING_ALLOWED. Raise ValueError."""
    return tuple(Entry.read(part.strip()) for part in text.split(",") if part.strip())


def _is_within(network: IPNetwork, other: IPNetwork) -> bool:
    first, last = network.network_address, network.broadcast_address
    return first in other and last in other


def _written(sockaddr: tuple[Any, ...]) -> str:
    """Return a socket's address, with the zone without which a link-local one means nothing."""
    zone = sockaddr[3] if len(sockaddr) == 4 else 0
    return f"{sockaddr[0]}%{zone}" if zone else str(sockaddr[0])


def _same(host: str) -> str:
    return host.strip("[]").lower().rstrip(".")
