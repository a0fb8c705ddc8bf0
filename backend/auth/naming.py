"""How people and teams are named: in filters by their id or a part of their name, on pages."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from colloquy_kit.messages.clean import clean_text
from db.models.people.user import TeamRow, UserRow


def names_of(session: Session, user_ids: Iterable[str]) -> Mapping[str, str]:
    """Return what people are called; those who are no longer known, by their ids."""
    ids = set(user_ids)
    found = session.execute(select(UserRow.id, UserRow.name).where(UserRow.id.in_(ids)))
    return {**{one: one for one in ids}, **{row.id: row.name for row in found}}


def is_person(column: Any, named: str) -> ColumnElement[bool]:
    """Match rows whose column holds this id, or that of people with this in a name or login."""
    people = select(UserRow.id).where(_contains(named, UserRow.name, UserRow.login))
    return or_(column == named, column.in_(people))


def is_team(column: Any, named: str) -> ColumnElement[bool]:
    """Match rows whose column holds this id, or that of teams with this in their name."""
    teams = select(TeamRow.id).where(_contains(named, TeamRow.name))
    return or_(column == named, column.in_(teams))


def _contains(text: str, *columns: Any) -> ColumnElement[bool]:
    part = clean_text(text).strip().lower()
    return func.lower(func.concat_ws(" ", *columns)).contains(part, autoescape=True)
