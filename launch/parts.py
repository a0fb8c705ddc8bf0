"""The table of Colloquy's processes: command, environment and readiness check of each."""

import http.client
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from backend.addresses import Address, http_url
from launch.environment import (
    ROOT,
    child_environment,
    pages_environment,
    plain_environment,
)
from launch.supervision.services import PartSpec, always

# After GRACE_SECONDS: what is left is handed over, which takes a while if a server hangs.
ENDING_SECONDS = 15.0
PROBE_SECONDS = 2.0


def demo(port: int) -> PartSpec:
    """Return the bundled demo model, on loopback only; its environment holds no credentials."""
    command = (sys.executable, "-m", "backend.demo_model", "--port", str(port))
    return PartSpec("demo", command, plain_environment({}), ROOT, partial(listens, port))


def migrate(found: Mapping[str, str]) -> PartSpec:
    """Return the migration to the newest schema, which ends by itself."""
    return _part("migrate", "db.migrate", [], found)


def integrity(found: Mapping[str, str], *arguments: str) -> PartSpec:
    """Return the check of all stored data, which ends by itself."""
    return command("backend.operations.integrity", arguments, found)


def command(module: str, arguments: Sequence[str], found: Mapping[str, str]) -> PartSpec:
    """Return what a person asked for on the command line, which ends by itself."""
    return _part(module.rpartition(".")[2], module, list(arguments), found)


def first_admin(found: Mapping[str, str]) -> PartSpec:
    """Return what prints the link for the first administrator, and ends by itself."""
    return _part("accounts", "backend.people.first_admin", [], found)


def api(
    host: str,
    port: int,
    found: Mapping[str, str],
    path: str = "/readyz",
    *,
    waits: bool = False,
    grace: float = 0.0,
) -> PartSpec:
    """Return the HTTP API; a GET of `path` tells whether it is ready.

    `waits`: it starts also while the database is away, and serves when that is back. `grace`: how
    many seconds its requests may go on when it is asked to end.
    """
    ready = partial(answers, http_url(host, port) + path)
    options = ["--port", str(port), *(["--wait"] if waits else [])]
    return replace(
        _part("api", "backend.api", options, found, ready), patience_seconds=grace + ENDING_SECONDS
    )


def worker(name: str, found: Mapping[str, str], grace: float = 0.0) -> PartSpec:
    """Return one worker process; `grace`: how many seconds its turns may go on when it must end."""
    command = (sys.executable, "-m", "worker")
    patience = grace + ENDING_SECONDS
    return PartSpec(name, command, child_environment(found), ROOT, always, patience)


def ui(address: Address, found: Mapping[str, str], further: Mapping[str, str]) -> PartSpec:
    """Return the pages; their environment holds no credentials of database, Redis or models.

    `further`: flags beside those of the address.
    """
    options = {
        "host": address.host,
        "port": address.port,
        "public-url": address.public_url,
        "allowed-hosts": address.allowed_hosts,
        **further,
    }
    flags = [f"--{name}={value}" for name, value in options.items()]
    command = (sys.executable, "-m", "ui", *flags)
    ready = partial(answers, http_url(address.host, address.port) + "/_stcore/health")
    return PartSpec("ui", command, pages_environment(found), ROOT, ready)


def answers(url: str) -> bool:
    """Return whether a GET of `url` returns 200 now."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def listens(port: int) -> bool:
    """Return whether something accepts connections on this loopback port."""
    try:
        socket.create_connection(("127.0.0.1", port), PROBE_SECONDS).close()
    except OSError:
        return False
    return True


def _part(
    name: str,
    module: str,
    arguments: list[str],
    found: Mapping[str, str],
    ready: Callable[[], bool] = always,
) -> PartSpec:
    command = (sys.executable, "-m", module, *arguments)
    return PartSpec(name, command, child_environment(found), ROOT, ready)
