"""The declarative base of all tables, with its constraint names and column types."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, MetaData
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import UUID as PostgresUUID
from sqlalchemy.orm import DeclarativeBase

JSON = dict[str, Any]

# Constraints are named, so that a migration can drop them.
NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
}


class Base(DeclarativeBase):
    """The base of all models."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {
        JSON: JSONB,
        UUID: PostgresUUID(as_uuid=True),
        datetime: DateTime(timezone=True),
    }
