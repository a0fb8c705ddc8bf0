"""The files that are written into the host, from templates, and the tables they declare."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mako.template import Template  # type: ignore[import-untyped]  # it has no types
from sqlalchemy import MetaData, Table
from sqlalchemy.orm import DeclarativeBase

from colloquy_kit.generate.answers import Answers
from colloquy_kit.generate.host import Found, Host, tables_of

TEMPLATES = Path(__file__).parent / "templates"
MODELS = "AgentState Conversation DisplayMessage"
# By template: what it imports of the target's own modules.
NEIGHBOURS: Mapping[str, Mapping[str, str]] = {
    "models": {},
    "service": {"models": MODELS},
    "factory": {},
    "persistence": {
        "factory": "build_agent",
        "models": "DisplayMessage",
        "service": "SESSIONS TABLES get_conversation",
    },
    "routes": {
        "": "service",
        "models": "Conversation DisplayMessage",
        "persistence": "start_agent",
    },
    "test_persistence": {"": "service", "models": MODELS},
}
KEYS = {"int": ("1", "2"), "str": ('"1"', '"2"'), "UUID": ("UUID(int=1)", "UUID(int=2)")}


def render(root: Path, host: Host, answers: Answers) -> dict[str, str]:
    """Return the text of each file, by its path from the root."""
    names = ["models", "service", "factory", "persistence"]
    names += ["routes"] if answers.routes == "fastapi" else []
    paths = {name: host.folder / f"{name}.py" for name in names}
    paths["test_persistence"] = root / "tests" / f"test_{host.folder.name}_persistence.py"
    texts = {host.folder / "__init__.py": ""}
    texts |= {path: _fill(name, host, answers) for name, path in paths.items()}
    return {
        path.resolve().relative_to(root.resolve()).as_posix(): text for path, text in texts.items()
    }


def make_tables(host: Host, answers: Answers) -> list[Table]:
    """Return the tables that models.py declares, made beside the host's own."""
    theirs = host.metadata
    naming: Any = theirs.naming_convention
    values = {
        "metadata": MetaData(naming_convention=naming, schema=theirs.schema),
        "type_annotation_map": host.base.value.registry.type_annotation_map,
    }
    base = type("Base", (DeclarativeBase,), values)
    space: dict[str, Any] = {
        "__name__": answers.target,
        host.base.imported: _standing_in(host.base, base),
    }
    if host.owner is not None:
        space[host.owner.imported] = _standing_in(host.owner, host.owner.value)
    exec(_fill("models", host, answers, imports=""), space)  # noqa: S102  our own template
    return [space[name].__table__ for name in ("Conversation", "AgentState", "DisplayMessage")]


def _standing_in(found: Found, value: type) -> Any:
    """Return what the first part of the class's dotted name is to be, to lead to `value`."""
    standing: Any = value
    for part in reversed(found.name.split(".")[1:]):
        standing = type("Namespace", (), {part: standing})
    return standing


def _fill(name: str, host: Host, answers: Answers, imports: str | None = None) -> str:
    owner = host.owner
    key = host.owner_key
    kind = answers.owner_type if owner else "user"
    values = {
        "imports": _imports(name, host, answers) if imports is None else imports,
        "base": host.base.name,
        "owner": owner.name if owner else "",
        "owner_type": answers.owner_type,
        "owner_field": answers.owner_field,
        "owner_key": host.owner_key_attribute,
        "key": key,
        "kind": kind,
        "one": KEYS[key][0],
        "two": KEYS[key][1],
        "scope_id": "str(scope.id)" if key == "UUID" else "scope.id",
        "scope_call": _scope_call(host),
        "schema": host.metadata.schema,
        "tables": tables_of(answers.table_prefix),
    }
    # Mako writes any other line ending as it finds it in the template.
    template = Template((TEMPLATES / f"{name}.py.mako").read_text(encoding="utf-8"))  # noqa: S702  no HTML
    return str(template.render(**values))


def _scope_call(host: Host) -> str:
    if host.scope_is_built_by_name:
        return f"{host.scope.name}(type=kind, id=number)"
    return f"cast({host.scope.name}, SimpleNamespace(type=kind, id=number))"


def _imports(name: str, host: Host, answers: Answers) -> str:
    """Return the imports of the application's own modules, in the order that ruff wants."""
    wanted: dict[str, set[str]] = {}
    theirs = {
        "models": [host.base, *([host.owner] if host.owner else [])],
        "factory": [],
    }.get(name, [host.scope])
    for found in theirs:
        wanted.setdefault(found.module, set()).add(found.imported)
    for module, names in NEIGHBOURS[name].items():
        path = f"{answers.target}.{module}" if module else answers.target
        wanted.setdefault(path, set()).update(names.split())
    return "\n".join(_import(module, found) for module, found in sorted(wanted.items()))


def _import(module: str, names: set[str]) -> str:
    ordered = sorted(names, key=lambda name: (_rank(name), name))
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= 88:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in ordered) + ")"


def _rank(name: str) -> int:
    """Constants come before classes, and these before functions and modules."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2
