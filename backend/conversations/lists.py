"""The conversations of a person's lists, found each way that they reach some, by its own index.

As one condition with OR, a list would read all conversations. No two ways find the same one.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    CompoundSelect,
    Select,
    String,
    func,
    literal,
    select,
    true,
    union_all,
)

from backend.auth.reach import conversation_belongs_to, shared_with
from backend.auth.scope import Scope, ScopeType
from backend.schemas.people.rights import Right
from db.models.conversations.conversation import ConversationRow
from db.models.people.user import UserRow

Find = Callable[[ColumnElement[bool]], Select[Any]]
_OF_PERSONS = (ScopeType.USER, ScopeType.ACCOUNT)


def first_of_each_way(scope: Scope, find: Find) -> CompoundSelect[Any]:
    """Return all that an ordered, limited query finds in each of the caller's ways.

    `find` makes the query for a condition on conversations.
    """
    row, found = ConversationRow, [find(shared_with(scope))]
    if scope.type in _OF_PERSONS:
        found.append(find(_is_own(scope)))
    if teams := _teams(scope):
        team = func.unnest(literal(teams, ARRAY(String))).column_valued("one_team")
        found.append(_of_each(select(team.label("id")), lambda held: find(row.team == held)))
    if scope.type is ScopeType.ORGANISATION:
        members = select(UserRow.id).where(UserRow.organisation == scope.id)
        found.append(_of_each(members, lambda held: find(_is_of(held))))
    return union_all(*found)


def listed_ids(scope: Scope, right: Right = Right.READ) -> CompoundSelect[Any]:
    """Return the ids of all conversations in the caller's lists on which they have the right."""
    row = ConversationRow
    ways = [shared_with(scope, right)]
    if scope.type in _OF_PERSONS:
        ways.append(_is_own(scope))
    if teams := _teams(scope):
        ways.append(row.team.in_(teams))
    if scope.type is ScopeType.ORGANISATION:
        ways.append(conversation_belongs_to(scope))
    return union_all(*(select(row.id).where(way, row.deletes_at.is_(None)) for way in ways))


def _is_own(scope: Scope) -> ColumnElement[bool]:
    return _is_of(literal(scope.user_id))


def _is_of(owner_id: ColumnElement[str]) -> ColumnElement[bool]:
    return ConversationRow.team.is_(None) & (ConversationRow.owner_id == owner_id)


def _teams(scope: Scope) -> list[str]:
    if scope.type is ScopeType.TEAM:
        return [scope.id]
    return sorted(scope.teams) if scope.type in _OF_PERSONS else []


def _of_each(holders: Select[Any], find: Callable[[ColumnElement[str]], Select[Any]]) -> Any:
    """Return what is found for each holder: the limit holds for each of them."""
    holder = holders.subquery("holder")
    of_one = find(holder.c.id).lateral("of_one")
    return select(of_one).select_from(holder.join(of_one, true()))
