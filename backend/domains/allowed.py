"""What the operator's settings allow the domains of this installation."""

from dataclasses import dataclass, field
from typing import Self

from backend.domains.commands import Commands
from backend.domains.secrets import Secrets
from backend.outgoing.policy import Outgoing
from backend.settings import Settings


@dataclass(frozen=True)
class Allowed:
    """The secrets that domains may name, and what their tool servers may run or be connected to."""

    secrets: Secrets = field(default_factory=Secrets)
    commands: Commands = field(default_factory=Commands)
    outgoing: Outgoing = field(default_factory=Outgoing)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return what the settings allow."""
        return cls(Secrets.of(settings), Commands.of(settings), settings.outgoing)
