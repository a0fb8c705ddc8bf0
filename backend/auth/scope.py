"""The scope: who asks, and what is theirs; the first argument of every query.

Everything that anybody may do is decided here, by `Scope.require`, or by the conditions on rows in
`backend.auth.reach`, which need a scope.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from backend.errors.base import NotAllowed
from backend.errors.people import TokenTooNarrow
from backend.schemas.people.rights import Allows, Permission, Review, Role
from db.models.people.user import LOCAL

PERMISSIONS: Mapping[Role, frozenset[Permission]] = {
    Role.MEMBER: frozenset(),
    Role.REVIEWER: frozenset({Permission.REVIEW_SESSIONS}),
    Role.ADMIN: frozenset(Permission),
}
# What tokens that only read or ask leave of a role.
READING = frozenset(
    {
        Permission.REVIEW_SESSIONS,
        Permission.SEE_WORK,
        Permission.SEE_ALL_USAGE,
        Permission.READ_AUDIT,
    }
)
_LEVELS = tuple(Allows)


class ScopeType(StrEnum):
    """Whose things a scope holds."""

    USER = "user"  # a person's
    ACCOUNT = "account"  # a service account's
    TEAM = "team"  # one team's only
    ORGANISATION = "organisation"  # what the members of an organisation own
    NONE = "none"  # nobody's


@dataclass(frozen=True)
class Scope:
    """Who asks (`user_id`), and whose things they see: those of `type` and `id`, and of `teams`.

    `allows`: what the token that they use allows; `review`: how they may read others' sessions;
    `reads_all`: without noting it, where nobody signs in; `sign_in`: the one that they use, if any.
    """

    user_id: str
    role: Role = Role.MEMBER
    teams: frozenset[str] = frozenset()
    type: ScopeType = ScopeType.USER
    of: str | None = None  # the team or organisation, where it is one's scope
    name: str = ""
    allows: Allows = Allows.MANAGE
    review: Review = Review.OFF
    reads_all: bool = False
    sign_in: UUID | None = None

    @property
    def id(self) -> str:
        """Return whose things the scope holds."""
        return self.user_id if self.of is None else self.of

    @property
    def permissions(self) -> frozenset[Permission]:
        """Return what the role allows, as far as the token does and reviews are on."""
        held = PERMISSIONS[self.role]
        if self.allows is not Allows.MANAGE:
            held &= READING
        return held if self.review is not Review.OFF else held - {Permission.REVIEW_SESSIONS}

    def without_reviews(self) -> "Scope":
        """Return the scope without the right to read others' sessions."""
        return replace(self, review=Review.OFF, reads_all=False)

    def has(self, permission: Permission) -> bool:
        """Return whether the caller has the permission."""
        return permission in self.permissions

    def require(self, permission: Permission) -> None:
        """Raise NotAllowed unless the caller has the permission."""
        if not self.has(permission):
            raise NotAllowed

    def require_token(self, level: Allows) -> None:
        """Raise TokenTooNarrow unless the caller's token allows so much."""
        if _LEVELS.index(self.allows) < _LEVELS.index(level):
            raise TokenTooNarrow(
                f"This token allows to {self.allows} only; this call needs one that allows to"
                f" {level}."
            )


LOCAL_USER = Scope(LOCAL, Role.ADMIN, name=LOCAL, review=Review.ON, reads_all=True)
