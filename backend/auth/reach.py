"""Conditions on rows: what a scope reaches. Lists and single reads filter by the same ones."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Uuid,
    and_,
    cast,
    false,
    func,
    or_,
    select,
    true,
    tuple_,
)

from backend.auth.scope import Scope, ScopeType
from backend.schemas.people.rights import (
    RIGHTS,
    Permission,
    PrincipalType,
    Resource,
    Right,
)
from db.models.conversations.conversation import ConversationRow
from db.models.people.grant import GrantRow
from db.models.people.review import ReviewRow
from db.models.people.user import UserRow

OWN = None  # in place of a right: only what belongs to the caller, or to a team of theirs


def conversation_belongs_to(scope: Scope) -> ColumnElement[bool]:
    """Match the conversations of the caller and of their teams."""
    row = ConversationRow
    if scope.type is ScopeType.NONE:
        return false()
    if scope.type is ScopeType.TEAM:
        return row.team == scope.id
    if scope.type is ScopeType.ORGANISATION:
        members = select(UserRow.id).where(UserRow.organisation == scope.id)
        return row.team.is_(None) & row.owner_id.in_(members)
    own = row.team.is_(None) & (row.owner_id == scope.user_id)
    return or_(own, row.team.in_(sorted(scope.teams))) if scope.teams else own


def conversation_reached_by(scope: Scope, right: Right | None) -> ColumnElement[bool]:
    """Match the conversations on which the caller has the right; OWN: those that are theirs."""
    ways = [conversation_belongs_to(scope)]
    if right is not OWN:
        row, ids = ConversationRow, granted(scope, Resource.SESSION, right)
        ways += [row.id.in_(ids), row.parent_id.in_(ids)]  # its tasks are read with it
    if right is Right.READ and scope.has(Permission.REVIEW_SESSIONS):
        ways.append(_is_reviewed_by(scope))
    return or_(*ways)


def granted(scope: Scope, resource: Resource, right: Right) -> Select[Any]:
    """Return the ids, as UUIDs, of the resources of a kind that were granted to the caller."""
    return select(cast(GrantRow.resource_id, Uuid)).where(grants_to(scope, resource, right))


def grants_to(scope: Scope, resource: Resource, right: Right) -> ColumnElement[bool]:
    """Match the rows that grant the caller a right, or a greater one, on resources of a kind."""
    row, of_kind = GrantRow, RIGHTS[resource]
    return and_(
        row.resource_type == resource,
        row.right.in_(of_kind[of_kind.index(right) :]),
        tuple_(row.principal_type, row.principal_id).in_(principals(scope)),
    )


def principals(scope: Scope) -> list[tuple[str, str]]:
    """Return who the caller is when rights are granted: their types and ids."""
    if scope.type is ScopeType.NONE:
        return []
    found = [(PrincipalType.EVERYONE, ""), (PrincipalType.USER, scope.user_id)]
    return [*found, *((PrincipalType.TEAM, team) for team in sorted(scope.teams))]


def reaching(scope: Scope) -> list[str]:
    """Return the principals through which the caller reaches conversations, as `type:id`."""
    found = [f"{kind}:{name}" for kind, name in principals(scope)]
    is_of_one = scope.type in (ScopeType.TEAM, ScopeType.ORGANISATION)
    return [*found, f"{scope.type}:{scope.id}"] if is_of_one else found


def shared_with(scope: Scope, right: Right = Right.READ) -> ColumnElement[bool]:
    """Match the conversations of others on which the caller was granted the right."""
    given = granted(scope, Resource.SESSION, right).cte("granted")
    # Read first: under row-level security, an id that is cast would be looked for in all rows.
    ids = select(given.prefix_with("MATERIALIZED"))
    return ConversationRow.id.in_(ids) & conversation_belongs_to(scope).is_not(true())


def _is_reviewed_by(scope: Scope) -> ColumnElement[bool]:
    """Match the conversations that a reviewer may read now: those of which a review is open.

    Also where none needs a reason, so that nothing is read that its owner is not shown.
    """
    if scope.reads_all:
        return true()
    row = ReviewRow
    open_now = select(row.conversation_id).where(
        row.reviewer == scope.user_id, row.ends_at > func.clock_timestamp()
    )
    # Also the sessions in which its tasks run.
    return or_(ConversationRow.id.in_(open_now), ConversationRow.parent_id.in_(open_now))
