"""The host application: its folder, and what its classes say about themselves."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import MetaData, Table
from sqlalchemy import inspect as inspect_mapped
from sqlalchemy.exc import NoInspectionAvailable
from sqlalchemy.orm import DeclarativeBase, MappedAsDataclass

from colloquy_kit.generate.answers import Answers
from colloquy_kit.generate.errors import Refused

SIGNS = ("pyproject.toml", "colloquy.toml", "alembic.ini", "setup.py", ".git")
KEYS: dict[type, str] = {int: "int", str: "str", UUID: "UUID"}


@dataclass(frozen=True)
class Found:
    """A class of the host: how generated code imports it, and the class."""

    module: str
    name: str  # may have dots: `db.Model`
    value: Any

    @property
    def imported(self) -> str:
        """Return the name that is imported from the module."""
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Host:
    """What is generated depends on this and the answers only."""

    folder: Path  # of the target
    scope: Found
    scope_is_built_by_name: bool  # as Scope(type=…, id=…)
    base: Found
    owner: Found | None
    owner_key: str  # int, str or UUID; of a host without owners: str
    owner_key_attribute: str

    @property
    def metadata(self) -> MetaData:
        """Return where the host's tables are declared."""
        metadata: MetaData = self.base.value.metadata
        return metadata


def find_root(start: Path) -> Path:
    """Return the nearest folder upwards that looks like the root of a project; else `start`."""
    for folder in (start, *start.parents):
        if any((folder / sign).exists() for sign in SIGNS):
            return folder
    return start


@contextmanager
def importing_from(root: Path) -> Iterator[None]:
    """Let the host's modules be imported, as from its own folder."""
    before = list(sys.path)
    sys.path[:0] = [str(folder) for folder in (root, root / "src") if folder.is_dir()]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def inspect_host(root: Path, answers: Answers) -> Host:
    """Return what the answers name. Raise Refused for what is not there or does not fit."""
    folder = _target_folder(root, answers.target)
    scope = _find("scope", answers.scope)
    for attribute in ("type", "id"):
        if not _has(scope.value, attribute):
            raise Refused(
                f"{answers.scope} has no `{attribute}`: a scope says its type and its id."
            )
    owner = _find("owner", answers.owner) if answers.has_owner else None
    key, attribute, table = ("str", "", None) if owner is None else _owner_key(answers.owner, owner)
    base = _find("base", answers.base) if answers.base else _base_of(answers.owner, owner)
    if not isinstance(getattr(base.value, "metadata", None), MetaData):
        raise Refused(f"{base.module}:{base.name} is no declarative base of SQLAlchemy.")
    if issubclass(base.value, MappedAsDataclass):
        raise Refused(
            f"{base.module}:{base.name} makes dataclasses, which the kit's columns are not. Name a"
            f" DeclarativeBase with the same metadata: --base {base.module}:Another."
        )
    if table is not None and table.metadata is not base.value.metadata:
        raise Refused(f"{answers.owner} is not built on {base.module}:{base.name}.")
    _refuse_taken(base.value.metadata, answers)
    named = _is_built_by_name(scope.value)
    return Host(folder, scope, named, base, owner, key, attribute)


def tables_of(prefix: str) -> tuple[str, str, str]:
    """Return the names of the three tables."""
    return f"{prefix}conversations", f"{prefix}agent_states", f"{prefix}display_messages"


def _target_folder(root: Path, target: str) -> Path:
    parent, _, name = target.rpartition(".")
    if not parent:
        folders = [root / "src"] if (root / "src").is_dir() else [root]
    else:
        try:
            spec = find_spec(parent)
        except Exception as error:  # whatever the host's code raises
            raise Refused(f"{parent} cannot be imported: {_said(error)}.") from error
        if spec is None or spec.submodule_search_locations is None:
            raise Refused(f"There is no package {parent} to write into, seen from {root}.")
        folders = [Path(place).resolve() for place in spec.submodule_search_locations]
    if len(folders) != 1 or root.resolve() not in (
        folders[0].resolve(),
        *folders[0].resolve().parents,
    ):
        raise Refused(f"{parent} is not inside {root}.")
    if (folders[0] / f"{name}.py").exists():
        raise Refused(f"{target} is a module already; choose another name for the package.")
    return folders[0] / name


def _find(key: str, path: str) -> Found:
    module, _, name = path.partition(":")
    try:
        value: Any = importlib.import_module(module)
    except Exception as error:  # whatever the host's code raises
        raise Refused(f"--{key}: {module} cannot be imported: {_said(error)}.") from error
    for part in name.split("."):
        value = getattr(value, part, None)
    if not isinstance(value, type):
        raise Refused(f"--{key}: {module} has no class {name}.")
    return Found(module, name, value)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no words'}".rstrip(".")


def _has(scope: type, attribute: str) -> bool:
    if hasattr(scope, attribute):
        return True
    if any(attribute in getattr(one, "__annotations__", {}) for one in scope.__mro__):
        return True
    # Set in its `__init__`, by whatever arguments.
    code = getattr(scope.__init__, "__code__", None)  # type: ignore[misc]  # it is only read
    return code is not None and attribute in code.co_names


def _is_built_by_name(scope: type) -> bool:
    try:
        scope(type="user", id="1")
    except Exception:  # noqa: BLE001  any constructor of the host
        return False
    return True


def _owner_key(path: str, owner: Found) -> tuple[str, str, Table]:
    try:
        mapper = inspect_mapped(owner.value)
        columns = mapper.primary_key
    except NoInspectionAvailable as error:
        raise Refused(f"{path} is no mapped class of SQLAlchemy.") from error
    if len(columns) != 1:
        raise Refused(f"The key of {path} has {len(columns)} columns; an owner's key has one.")
    column = columns[0]
    try:
        kind = column.type.python_type
    except NotImplementedError:
        kind = object
    if kind not in KEYS:
        raise Refused(f"The key of {path} is {column.type!r}; owners have int, str or uuid keys.")
    return KEYS[kind], mapper.get_property_by_column(column).key, column.table


def _base_of(path: str, owner: Found | None) -> Found:
    assert owner is not None  # noqa: S101  answers without an owner have a base
    for one in owner.value.__mro__:
        if DeclarativeBase in one.__bases__ and "." not in one.__qualname__:
            return _find("base", f"{one.__module__}:{one.__qualname__}")
    raise Refused(f"Which class {path} builds on is not clear; say --base my_app.db:Base.")


def _refuse_taken(metadata: MetaData, answers: Answers) -> None:
    if f"{answers.target}.models" in sys.modules:  # the tables are the generated ones
        return
    names = tables_of(answers.table_prefix)
    for table in metadata.tables.values():
        if table.name in names:
            said = f"There is a table {table.name} in this application already"
            raise Refused(f"{said}; choose a --table-prefix.")
