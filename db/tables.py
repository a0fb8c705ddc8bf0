"""All mapped tables: every module of `db.models`, imported already or not."""

from importlib import import_module
from pkgutil import walk_packages

from sqlalchemy import MetaData

from db import models
from db.base import Base


def all_tables() -> MetaData:
    """Return the tables of all models."""
    for module in walk_packages(models.__path__, f"{models.__name__}."):
        import_module(module.name)
    return Base.metadata
