"""Secrets: domains name them as `${NAME}`, the environment holds them, the settings bind them.

An entry of DOMAIN_SECRETS that names a host binds its secrets to that host. One without a host
keeps them on this machine: loopback addresses, and processes whose command the operator allowed.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import httpx
from dotenv import dotenv_values

from backend.domains.rerouting import find_rerouting, rerouting_text
from backend.errors.domains import SecretForbidden, SecretMissing
from backend.outgoing.addresses import is_this_machine
from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import NAMED, McpServer, StdioServer
from backend.setting_kinds import SECRET_ENTRY
from backend.settings import Settings

MOST_NAMES = 1_000
# Where `${` means nothing else; an argument of a command may be for a shell.
NAME_OR_FAULT = ("url", "headers")
NO_NAME = re.compile(r"\$\{(?!\w+\})[^\s}]{0,40}\}?")
EXPANDED = {"url", "headers", "args", "env"}  # the fields of a server that may name secrets
STDIO = "stdio"
PORTS = {"http": 80, "https": 443}
# Colloquy's own settings, such as the model's key, are never passed to a tool server.
RESERVED = frozenset(name.upper() for name in Settings.model_fields)

Environment = Mapping[str, str | None]


def read_environment() -> Environment:
    """Return this process's environment and `.env`; the environment wins, as with settings."""
    return {**dotenv_values(".env"), **os.environ}


@dataclass(frozen=True)
class Destination:
    """Where a secret would be sent: a child process (`host` is STDIO), or a server's address."""

    host: str
    port: int = 0
    scheme: str = ""

    @classmethod
    def of_url(cls, url: str) -> Self | None:
        """Return the destination that a client of this URL connects to; None if that is unclear."""
        try:
            parts = httpx.URL(url)
        except httpx.InvalidURL:
            return None
        if parts.scheme not in PORTS or not parts.host:
            return None
        return cls(_same(parts.host), parts.port or PORTS[parts.scheme], parts.scheme)

    @property
    def is_this_machine(self) -> bool:
        """Whether what is sent there stays on this machine."""
        return self.host == STDIO or is_this_machine(self.host)

    @property
    def written(self) -> str:
        """The destination in the notation of DOMAIN_SECRETS."""
        if self.host == STDIO:
            return STDIO
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{'http://' if self.is_open else ''}{host}{port}"

    @property
    def is_open(self) -> bool:
        """Whether others on the network can read what is sent there."""
        return self.scheme == "http" and not self.is_this_machine


@dataclass(frozen=True)
class Rule:
    """One entry of DOMAIN_SECRETS. Without a host: this machine; without a port: any port."""

    name: str
    host: str = ""
    port: int = 0
    scheme: str = ""

    @classmethod
    def read(cls, entry: str) -> Self:
        """Return the rule of an entry in the settings. Raise ValueError."""
        if (found := SECRET_ENTRY.fullmatch(entry)) is None:
            raise ValueError(entry)
        scheme = (found["scheme"] or "").removesuffix("://")
        return cls(found["name"], _same(found["host"] or ""), int(found["port"] or 0), scheme)

    def fits(self, name: str) -> bool:
        """Return whether the rule applies to this secret."""
        is_beginning = self.name.endswith("*")
        return name.startswith(self.name[:-1]) if is_beginning else name == self.name

    def permits(self, destination: Destination) -> bool:
        """Return whether a secret that the rule applies to may be sent there."""
        if not self.host:
            return destination.is_this_machine
        if self.host != destination.host or self.port not in (0, destination.port):
            return False
        return self.scheme == destination.scheme if self.scheme else not destination.is_open


@dataclass(frozen=True)
class Secrets:
    """The names that domains may use, the values, and where each may be sent."""

    allowed: tuple[str, ...] = ()
    read: Callable[[], Environment] = read_environment

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the secrets that the settings allow."""
        return cls(settings.secret_names)

    def expand(self, text: str, destination: Destination | None) -> str:
        """Return the text with the secret of each name, for a destination.

        Raise SecretForbidden or SecretMissing.
        """
        return NAMED.sub(lambda match: self._value_of(match[1], destination), text)

    def refusal(self, name: str, destination: Destination | None) -> str | None:
        """Return why a domain may not name the secret for this destination; None if it may.

        Without a destination, only the name is checked, because the destination is not known yet.
        """
        if name.upper() in RESERVED:
            return f"${{{name}}} is a setting of Colloquy itself; no domain may name it."
        rules = [rule for rule in map(Rule.read, self.allowed) if rule.fits(name)]
        if not rules:
            return (
                f"${{{name}}} is not a name that DOMAIN_SECRETS of the settings allows:"
                f" {', '.join(self.allowed) or 'none'}."
            )
        bound = [rule for rule in rules if rule.host]
        if destination is None or any(rule.permits(destination) for rule in bound or rules):
            return None
        return _not_there(name, destination)

    def absence(self, name: str) -> str | None:
        """Return a sentence if the secret is not set in this process's environment, else None."""
        if self.read().get(name):
            return None
        return f"${{{name}}} is not set here. Set it in the worker's environment or in `.env`."

    def _value_of(self, name: str, destination: Destination | None) -> str:
        if reason := self.refusal(name, destination):
            raise SecretForbidden(reason)
        value = self.read().get(name)
        if not value:
            raise SecretMissing(self.absence(name))
        return value


def expand_secrets(server: McpServer, secrets: Secrets) -> McpServer:
    """Return the server with its secrets filled in. Raise SecretMissing or SecretForbidden.

    A secret in the url is checked against the host of the complete url.
    """
    first = next((name for _, _, name in _names_in({"": server})), None)
    if first and (rerouting := next(find_rerouting(server), None)):
        raise SecretForbidden(rerouting_text(rerouting[1], first))
    if isinstance(server, StdioServer):
        destination: Destination | None = Destination(STDIO)
    else:
        destination = Destination.of_url(secrets.expand(server.url, None))
        if destination is None and first:
            raise SecretForbidden(f"${{{first}}} is not sent, because its url has no host.")

    def expand(value: Any) -> Any:
        if isinstance(value, str):
            return secrets.expand(value, destination)
        if isinstance(value, dict):
            return {key: expand(item) for key, item in value.items()}
        return [expand(item) for item in value]

    fields = server.model_dump()
    return type(server).read({k: expand(v) if k in EXPANDED else v for k, v in fields.items()})


def names_of_secrets(server: McpServer) -> frozenset[str]:
    """Return the names of the secrets that a server's template names."""
    return frozenset(name for _, _, name in _names_in({"": server}))


def named_secrets(server: McpServer, secrets: Secrets) -> dict[str, str]:
    """Return the values of the secrets that a server's template names, by name."""
    names = names_of_secrets(server)
    environment = secrets.read() if names else {}
    return {name: value for name in names if (value := environment.get(name))}


def check_secrets(
    servers: Mapping[str, McpServer], secrets: Secrets
) -> tuple[list[Fault], list[Fault]]:
    """Yield faults about the secrets that servers name, and warnings about missing ones.

    A missing secret is only a warning: the worker's environment may differ from the caller's.
    """
    faults: list[Fault] = []
    warnings: list[Fault] = []
    for server, template in servers.items():
        for field in NAME_OR_FAULT:
            if found := NO_NAME.search("\n".join(_texts(getattr(template, field, "")))):
                message = (
                    f"`{found[0]}` names no secret. Write ${{NAME}}: letters, digits, underscores."
                )
                faults.append(Fault(path=["mcp_servers", server, field], message=message))
    named = list(islice(_names_in(servers), MOST_NAMES + 1))
    if len(named) > MOST_NAMES:
        message = f"Tool servers of one domain name {MOST_NAMES:,} secrets at most."
        return [Fault(path=["mcp_servers"], message=message)], []
    faults += _rerouted(servers, {server: name for server, _, name in reversed(named)})
    for server, field, name in named:
        path: list[str | int] = ["mcp_servers", server, field]
        if field not in EXPANDED:
            message = (
                f"A secret such as ${{{name}}} may only appear in {', '.join(sorted(EXPANDED))}."
            )
            faults.append(Fault(path=path, message=message))
        elif refused := secrets.refusal(name, destination_of(servers[server])):
            faults.append(Fault(path=path, message=refused))
        elif absent := secrets.absence(name):
            warnings.append(Fault(path=path, message=absent))
    return faults, warnings


def destination_of(server: McpServer) -> Destination | None:
    """Return where a server's secrets would be sent, as far as its template shows."""
    if isinstance(server, StdioServer):
        return Destination(STDIO)
    scheme, _, rest = server.url.partition("://")
    authority = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    if NAMED.search(scheme) or NAMED.search(authority.rpartition("@")[2]):
        return None
    return Destination.of_url(NAMED.sub("1", server.url))


def _rerouted(servers: Mapping[str, McpServer], named: Mapping[str, str]) -> Iterator[Fault]:
    """Yield faults of servers that name a secret, by server, and could take it elsewhere."""
    for server, secret in named.items():
        for field, name in find_rerouting(servers[server]):
            message = rerouting_text(name, secret)
            yield Fault(path=["mcp_servers", server, field], message=message)


def _not_there(name: str, destination: Destination) -> str:
    if destination.host == STDIO:
        return (
            f"${{{name}}} is bound to a host and not passed to a child process. If it belongs"
            f" there, ask the operator to add {name}@stdio to DOMAIN_SECRETS."
        )
    way = " without encryption; use https" if destination.is_open else ""
    return (
        f"${{{name}}} may not be sent to {destination.host}{way}. If it belongs there, ask the"
        f" operator to add {name}@{destination.written} to DOMAIN_SECRETS in the settings."
    )


def _names_in(servers: Mapping[str, McpServer]) -> Iterator[tuple[str, str, str]]:
    """Yield each name once, with its server and field."""
    for server, template in servers.items():
        for field, value in template.model_dump(mode="json").items():
            for name in dict.fromkeys(NAMED.findall("\n".join(_texts(value)))):
                yield server, field, name


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [str(text) for text in value.values()]
    return [str(text) for text in value] if isinstance(value, list) else [str(value)]


def _same(host: str) -> str:
    """Return a host in a form to compare: lower case, without a trailing dot or brackets."""
    return host.strip("[]").lower().rstrip(".")
