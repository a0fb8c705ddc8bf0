"""Faults in a domain's tool servers that can be found without connecting to them. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

from backend.domains.allowed import Allowed
from backend.domains.secrets import destination_of
from backend.errors.outgoing import AddressRefused
from backend.outgoing.policy import Outgoing
from backend.schemas.bounds import LONGEST_NAME
from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import NAMED, McpServer, StdioServer, StreamableHttpServer
from backend.text import is_visible

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2

_OF_THE_CONNECTION = frozenset(
    ("connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade")
)


def check_servers(servers: Mapping[str, McpServer], allowed: Allowed) -> list[Fault]:
    """Return faults of servers that cannot or may not be connected to; each names its server."""
    return [
        Fault(path=["mcp_servers", name, *place], message=f"The MCP server {name!r}: {problem}")
        for name, server in servers.items()
        for place, problem in _find_wrong(name, server, allowed)
    ]


def _find_wrong(name: str, server: McpServer, allowed: Allowed) -> Iterator[tuple[list[str], str]]:
    if not is_visible(name) or not name.isprintable() or len(name) > LONGEST_NAME:
        yield [], f"its name must be one line of 1 to {LONGEST_NAME} characters."
    if isinstance(server, StdioServer):
        yield from _wrong_process(server)
        yield from (([field], problem) for field, problem in allowed.commands.faults(server))
    else:
        yield from _wrong_address(server, allowed.outgoing)


def _wrong_process(server: StdioServer) -> Iterator[tuple[list[str], str]]:
    if not server.command.strip():
        yield ["command"], "its command is empty."
    if odd := _first(server.env, lambda name, _: not name or "=" in name):
        yield ["env"], f"{odd!r} cannot be the name of a variable."


def _wrong_address(
    server: StreamableHttpServer, outgoing: Outgoing
) -> Iterator[tuple[list[str], str]]:
    if not _is_address(server.url):
        yield ["url"], "its url must begin with http:// or https:// and name a host."
    elif destination := destination_of(server):
        try:
            outgoing.check(destination.host, destination.port)
        except AddressRefused as error:
            yield ["url"], f"its url cannot be used: {error.reason}."
    if odd := _first(server.headers, lambda name, _: not _HEADER_NAME.fullmatch(name)):
        yield ["headers"], f"{odd!r} cannot be the name of a header."
    if odd := _first(server.headers, lambda name, _: name.lower() in _OF_THE_CONNECTION):
        yield ["headers"], f"{odd} is set by each connection itself; leave it out."
    if odd := _first(server.headers, lambda _, text: not (text.isascii() and text.isprintable())):
        yield ["headers"], f"{odd!r} has a value that no header can have: only ASCII, in one line."


def _first(pairs: Mapping[str, str], is_wrong: Callable[[str, str], bool]) -> str | None:
    """Return how to show the first wrong pair, if any; an empty name is shown as typed."""
    return next((name or '""' for name, value in pairs.items() if is_wrong(name, value)), None)


def _is_address(url: str) -> bool:
    if NAMED.match(url):
        return True  # only the worker knows what the secret at its start is
    if not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(NAMED.sub("1", url))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
