"""The scope: the caller's identity and role; the first argument of every query."""

from dataclasses import dataclass
from enum import StrEnum

from backend.errors.base import NotAllowed


class Role(StrEnum):
    """What a person may see: a member their own sessions, an admin everyone's."""

    MEMBER = "member"
    ADMIN = "admin"


@dataclass(frozen=True)
class Scope:
    """The caller: user, team, organisation and role."""

    user_id: str
    role: Role = Role.MEMBER
    team: str | None = None
    organisation: str | None = None

    @property
    def is_admin(self) -> bool:
        """Return whether the caller may review sessions of all owners."""
        return self.role is Role.ADMIN

    def require_admin(self) -> None:
        """Raise NotAllowed unless the caller is an admin."""
        if not self.is_admin:
            raise NotAllowed


LOCAL_USER = Scope(user_id="local", role=Role.ADMIN)
