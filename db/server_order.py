"""The servers that DATABASE_URL names, of which one accepts writes, and in which order to try them.

libpq tries them in the order of the URL. While the first one is cut off, each new connection would
wait for it first; one that does not block would wait for ever, since it has no time limit.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Server = tuple[str, str]  # host and port, as libpq takes them


class ServerOrder:
    """Remembers which server was reached last, and has it tried first."""

    def __init__(self) -> None:
        self._reached: Server | None = None

    def reached(self, connection: Any) -> None:
        """Note where a new connection leads."""
        self._reached = (connection.info.host, str(connection.info.port))

    def in_order(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of a connection with its servers in the order to try them."""
        servers = self._sorted(options)
        if len(servers) < 2:
            return dict(options)
        hosts, ports = zip(*servers, strict=True)
        return {**options, "host": ",".join(hosts), "port": ",".join(ports)}

    def each(self, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Give the parameters of a connection to each single server, in that order."""
        servers = self._sorted(options)
        if len(servers) < 2:
            yield dict(options)
            return
        for host, port in servers:
            yield {**options, "host": host, "port": port}

    def _sorted(self, options: Mapping[str, Any]) -> list[Server]:
        hosts = str(options.get("host", "")).split(",")
        ports = str(options.get("port") or "5432").split(",")
        ports = ports * len(hosts) if len(ports) == 1 else ports
        # libpq itself refuses lists of different lengths.
        servers = list(zip(hosts, ports, strict=False)) if len(hosts) == len(ports) else []
        return sorted(servers, key=lambda server: server != self._reached)
