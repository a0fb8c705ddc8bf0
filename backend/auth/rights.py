"""What a caller may use: domains, sources, tool servers, secrets and models.

A thing that nobody was granted is everyone's. Once somebody was, only who was granted it has it:
for all others it does not exist.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, String, cast, func, select, tuple_
from sqlalchemy.orm import Session

from backend.auth.reach import principals
from backend.auth.scope import Scope
from backend.schemas.people.rights import Resource
from db.models.people.grant import GrantRow

# Sessions and uploaded files belong to somebody; grants add to that.
OPEN = (Resource.DOMAIN, Resource.SOURCE, Resource.SERVER, Resource.SECRET, Resource.MODEL)


@dataclass(frozen=True)
class Rights:
    """What a caller may use at one moment."""

    scope: Scope
    withheld: frozenset[tuple[str, str]] = frozenset()  # kinds and ids of what is others' only

    def may_use(self, resource: Resource, resource_id: str) -> bool:
        """Return whether the caller may use the resource of this kind and id."""
        return (resource, resource_id) not in self.withheld

    def withheld_of(self, resource: Resource) -> frozenset[str]:
        """Return the ids of the resources of a kind that the caller may not use."""
        return frozenset(one for kind, one in self.withheld if kind == resource)


def read_rights(session: Session, scope: Scope) -> Rights:
    """Return what the caller may use now."""
    found = session.execute(_all_withheld(scope))
    return Rights(scope, frozenset((one.resource_type, one.resource_id) for one in found))


@lru_cache(1_000)  # building it takes longer than running it
def _all_withheld(scope: Scope) -> Select[Any]:
    """Return the kinds and ids of the resources that others were granted, but not the caller."""
    row = GrantRow
    query = select(row.resource_type, row.resource_id).where(row.resource_type.in_(OPEN))
    return _withheld_of(query, scope)


def is_usable(scope: Scope, resource: Resource, id_column: Any) -> ColumnElement[bool]:
    """Match the rows of resources of a kind that the caller may use."""
    return cast(id_column, String).not_in(_withheld(scope, resource))


def _withheld(scope: Scope, resource: Resource) -> Select[Any]:
    """Return the ids of the resources of a kind that others were granted, but not the caller."""
    row = GrantRow
    return _withheld_of(select(row.resource_id).where(row.resource_type == resource), scope)


def _withheld_of(query: Any, scope: Scope) -> Select[Any]:
    """Return, of resources with grants, those that none holds for the caller: any right will do."""
    row = GrantRow
    is_theirs = tuple_(row.principal_type, row.principal_id).in_(principals(scope))
    each: Select[Any] = query.group_by(row.resource_type, row.resource_id)
    return each.having(~func.bool_or(is_theirs))
