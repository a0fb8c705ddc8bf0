"""Which addresses belong to the inside of a network, in whatever way they are written."""

import ipaddress
import socket
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

# The registries of special-purpose addresses (RFC 6890): https://www.iana.org/assignments/
# iana-ipv4-special-registry and iana-ipv6-special-registry. Not the interpreter's `is_global`,
# which differs between its releases.
INSIDE: Mapping[IPNetwork, str] = {
    ipaddress.ip_network(network): kind
    for network, kind in {
        "0.0.0.0/8": "unspecified",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "shared by a provider's customers",
        "127.0.0.0/8": "loopback",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "reserved",
        "192.88.99.0/24": "reserved",
        "192.168.0.0/16": "private",
        "198.18.0.0/15": "reserved",
        "198.51.100.0/24": "reserved",
        "203.0.113.0/24": "reserved",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
        "::/128": "unspecified",
        "::1/128": "loopback",
        "2001::/23": "reserved",
        "2001:db8::/32": "reserved",
        "3fff::/20": "reserved",
        "fc00::/7": "private",
        "fe80::/10": "link-local",
        "fec0::/10": "private",
        "ff00::/8": "multicast",
    }.items()
}
GLOBAL_UNICAST = IPv6Network("2000::/3")  # all that IANA assigns to the internet (RFC 4291)
NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052; 6to4 and mapped addresses are known to Python

# What hands out the credentials of a machine in a cloud to whoever asks from that machine.
METADATA: tuple[IPNetwork, ...] = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16",  # AWS, Azure, Google, Oracle, OpenStack, Tencent; tasks of ECS and EKS
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure's agent
        "192.0.0.192/32",  # Oracle, before
        "fd00:ec2::/32",  # AWS
        "fd20:ce::254/128",  # Google
        "fd00:c1::a9fe:a9fe/128",  # Oracle
        "fe80::a9fe:a9fe/128",  # OpenStack
    )
)


def read_address(host: str) -> IPAddress | None:
    """Return the address that a host is; None if it is a name.

    Resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses, too (inet_aton).
    """
    host = host.strip("[]").rstrip(".")
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeEncodeError):
        return None


def is_this_machine(host: str) -> bool:
    """Return whether a host is a loopback address, or a name for one (RFC 6761)."""
    address = read_address(host)
    if address is None:
        return host.lower().rstrip(".").rpartition(".")[2] == "localhost"
    return plain(address).is_loopback


def plain(address: IPAddress) -> IPAddress:
    """Return the IPv4 address within one of IPv6 that only carries it; else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_metadata(address: IPAddress) -> bool:
    """Return whether a cloud's metadata may be there."""
    return any(plain(address) in network for network in METADATA)


def inside(address: IPAddress) -> str | None:
    """Return of what kind an address is that is not on the internet; None if it is."""
    found = plain(address)
    kind = next((kind for network, kind in INSIDE.items() if found in network), None)
    if kind is None and isinstance(found, IPv6Address) and found not in GLOBAL_UNICAST:
        return "reserved"
    return kind
