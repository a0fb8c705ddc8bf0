"""What the operator's settings allow the domains of this installation."""

from dataclasses import dataclass, field
from typing import Self

from backend.domains.commands import Commands
from backend.domains.secrets import Secrets
from backend.settings import Settings


@dataclass(frozen=True)
class Allowed:
    """The secrets that domains may name, and the commands that their tool servers may run."""

    secrets: Secrets = field(default_factory=Secrets)
    commands: Commands = field(default_factory=Commands)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return what the settings allow."""
        return cls(Secrets.of(settings), Commands.of(settings))
