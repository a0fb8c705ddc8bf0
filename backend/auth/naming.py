"""How people and teams are named in filters: by their id, or by a part of their name."""

from typing import Any

from sqlalchemy import ColumnElement, func, or_, select

from backend.text import clean_text
from db.models.people.user import TeamRow, UserRow


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
