"""Secrets: domains name them as `${NAME}`, the environment holds them, the settings allow names."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dotenv import dotenv_values

from backend.errors import SecretForbidden, SecretMissing
from backend.schemas.configuration import Fault
from backend.schemas.domains import McpServer
from backend.settings import Settings

NAMED = re.compile(r"\$\{(\w+)\}")
EXPANDED = {"url", "headers", "args", "env"}  # the fields of a server in which names are replaced
# Colloquy's own settings, such as the model's key, are never handed to a tool server.
RESERVED = frozenset(name.upper() for name in Settings.model_fields)

Environment = Mapping[str, str | None]


def read_environment() -> Environment:
    """What is set for this process, and in `.env`; the environment wins, as with settings."""
    return {**dotenv_values(".env"), **os.environ}


@dataclass(frozen=True)
class Secrets:
    """Which names domains may use, and where their values are."""

    allowed: tuple[str, ...] = ()
    read: Callable[[], Environment] = read_environment

    @classmethod
    def of(cls, settings: Settings) -> "Secrets":
        """Those that the settings allow."""
        return cls(settings.secret_names)

    def allows(self, name: str) -> bool:
        """Whether a domain may name it."""
        return name.upper() not in RESERVED and any(_fits(name, rule) for rule in self.allowed)

    def expand(self, text: str) -> str:
        """The text with each name replaced. Raises SecretForbidden, SecretMissing."""
        return NAMED.sub(lambda match: self._value_of(match[1]), text)

    def refusal(self, name: str) -> str | None:
        """Why a domain may not name it, in a sentence; None when it may."""
        if self.allows(name):
            return None
        if name.upper() in RESERVED:
            return f"${{{name}}} is a setting of Colloquy itself; no domain may name it."
        return (
            f"${{{name}}} is not a name that DOMAIN_SECRETS of the settings allows:"
            f" {', '.join(self.allowed) or 'none'}."
        )

    def absence(self, name: str) -> str | None:
        """That it is not set in this process's environment, in a sentence; None when it is."""
        if self.read().get(name):
            return None
        return f"${{{name}}} is not set here. Set it in the worker's environment or in `.env`."

    def _value_of(self, name: str) -> str:
        if said := self.refusal(name):
            raise SecretForbidden(said)
        value = self.read().get(name)
        if not value:
            raise SecretMissing(self.absence(name))
        return value


def check_secrets(
    servers: Mapping[str, McpServer], secrets: Secrets
) -> tuple[list[Fault], list[Fault]]:
    """What is wrong with the secrets that servers name: faults, and warnings of missing ones.

    Missing is only a warning: the worker's environment may be another one than the caller's.
    """
    faults: list[Fault] = []
    warnings: list[Fault] = []
    for server, field, name in _names_in(servers):
        path: list[str | int] = ["mcp_servers", server, field]
        if field not in EXPANDED:
            said = f"A secret such as ${{{name}}} may stand in {', '.join(sorted(EXPANDED))} only."
            faults.append(Fault(path=path, message=said))
        elif refused := secrets.refusal(name):
            faults.append(Fault(path=path, message=refused))
        elif absent := secrets.absence(name):
            warnings.append(Fault(path=path, message=absent))
    return faults, warnings


def _names_in(servers: Mapping[str, McpServer]) -> Iterator[tuple[str, str, str]]:
    """Each name with its server and field, once."""
    for server, template in servers.items():
        for field, value in template.model_dump(mode="json").items():
            for name in dict.fromkeys(NAMED.findall("\n".join(_texts(value)))):
                yield server, field, name


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [str(text) for text in value.values()]
    return [str(text) for text in value] if isinstance(value, list) else [str(value)]


def _fits(name: str, rule: str) -> bool:
    return name.startswith(rule[:-1]) if rule.endswith("*") else name == rule
