"""How people name a domain: by its name, or by its id, bare or behind its prefix."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, or_

from backend.schemas.ids import Kind, bare_id
from colloquy_kit.messages.clean import clean_text


def names_domain(name_or_id: str, name: str, domain_id: UUID | None) -> bool:
    """Return whether a text names the domain that has this name and id."""
    return name_or_id == name or (domain_id is not None and _read_id(name_or_id) == domain_id)


def match_domain(name_or_id: str, name: Any, domain_id: Any) -> ColumnElement[bool]:
    """Match the rows whose columns have this name or id of a domain."""
    by_name = name == clean_text(name_or_id)
    wanted_id = _read_id(name_or_id)
    return by_name if wanted_id is None else or_(by_name, domain_id == wanted_id)


def _read_id(text: str) -> UUID | None:
    try:
        return UUID(bare_id(Kind.DOMAIN, text))
    except ValueError:
        return None
