"""What the command was told, now or before, and whether it fits together. Pure."""

import keyword
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from colloquy_kit.generate.errors import Refused

OWNER_TYPES = ("user", "account", "team", "org", "none")
ROUTES = ("none", "fastapi")
LONGEST_PREFIX = 20  # names of indexes have it in them, and PostgreSQL cuts names at 63 bytes
COLUMNS = ("id", "title", "version", "metadata", "metadata_", "scope", "inserted_at", "updated_at")
TABLE, NAME = "tool", "colloquy"
# None of these changes what is already in a database.
CHANGEABLE = ("scope", "alembic", "routes")

_MODULE = re.compile(r"[a-zA-Z_]\w*(\.[a-zA-Z_]\w*)*", re.ASCII)
_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)


@dataclass(frozen=True)
class Answers:
    """All answers; an empty text stands for "found by itself" or "none"."""

    target: str = ""
    scope: str = ""
    owner: str = ""
    owner_type: str = ""
    owner_field: str = ""
    base: str = ""
    alembic: str = ""
    table_prefix: str = ""
    routes: str = "none"

    @property
    def has_owner(self) -> bool:
        """Return whether conversations belong to somebody."""
        return self.owner_type != "none"


def read_answers(text: str, name: str) -> Answers | None:
    """Return the answers in a TOML file's `[tool.colloquy]`; None if it has none."""
    table = _parse(text, name).get(TABLE, {}).get(NAME)
    if table is None:
        return None
    known = {option(field.name): field.name for field in fields(Answers)}
    for key, value in table.items():
        if key not in known:
            raise Refused(f"{name} has an unknown answer in [tool.colloquy]: {key}.")
        if not isinstance(value, str):
            raise Refused(f"The answer {key} in [tool.colloquy] of {name} has to be a text.")
    return Answers(**{known[key]: str(value) for key, value in table.items()})


def write_answers(text: str, name: str, answers: Answers) -> str:
    """Return the TOML file's text with these answers; all else stays as it is, to the byte."""
    document = _parse(text, name)
    wanted = {option(key): value for key, value in asdict(answers).items() if value}
    table = document.get(TABLE, {}).get(NAME)
    if table is not None and dict(table) == wanted:
        return text
    if table is None:
        lines = "".join(
            f"{key} = {tomlkit.item(value).as_string()}\n" for key, value in wanted.items()
        )
        gap = "\n" if text and not text.endswith("\n\n") else ""
        ending = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{ending}{gap}[tool.colloquy]\n{lines}"
    for key in [key for key in table if key not in wanted]:
        del table[key]
    for key, value in wanted.items():
        if table.get(key) != value:
            table[key] = value
    return tomlkit.dumps(document)


def merge_answers(given: Mapping[str, str | None], remembered: Answers | None) -> Answers:
    """Return what is given, else remembered, else the default. Raise Refused for what cannot be."""
    told = {key: value for key, value in given.items() if value is not None}
    if remembered is not None:
        _refuse_changes(told, remembered)
    answers = Answers(**{**(asdict(remembered) if remembered else {}), **told})
    if not answers.target:
        raise Refused("Say which package to write, for example my_app.conversations.")
    if not answers.scope:
        raise Refused("Say what tells who asks, for example --scope my_app.auth:Scope.")
    answers = _with_owner(answers)
    _check(answers)
    return answers


def option(name: str) -> str:
    """Return an answer's name as it is written on the command line and in TOML."""
    return name.replace("_", "-")


def _refuse_changes(told: Mapping[str, str], remembered: Answers) -> None:
    for key, value in told.items():
        before = getattr(remembered, key)
        if value == before or key in CHANGEABLE:
            continue
        if key == "target":
            raise Refused(f"This application has its conversations in {before} already.")
        raise Refused(
            f"The tables were created with {option(key)} {before!r}. If rows are to move, change it"
            " in [tool.colloquy]: the next run says which migration is yours to write."
        )


def _with_owner(answers: Answers) -> Answers:
    values = asdict(answers)
    if answers.owner_type not in ("", *OWNER_TYPES):
        raise Refused(
            f"--owner-type is one of {', '.join(OWNER_TYPES)}; not {answers.owner_type!r}."
        )
    if not answers.has_owner:
        for key in ("owner", "owner_field"):
            if values[key]:
                raise Refused(f"--owner-type none and --{option(key)} exclude each other.")
        if not answers.base:
            raise Refused(
                "Without an owner, say on which class models build: --base my_app.db:Base."
            )
        return answers
    if not answers.owner:
        raise Refused(
            "Name the owner's model, as --owner my_app.models:User, or --owner-type none."
        )
    values["owner_type"] = answers.owner_type or "user"
    values["owner_field"] = answers.owner_field or f"{values['owner_type']}_id"
    return Answers(**values)


def _check(answers: Answers) -> None:
    if not _MODULE.fullmatch(answers.target) or _has_keyword(answers.target):
        raise Refused(f"{answers.target!r} is no name of a package, as my_app.conversations is.")
    for key in ("scope", "owner", "base"):
        value = getattr(answers, key)
        module, _, name = value.partition(":")
        if value and not (_MODULE.fullmatch(module) and _MODULE.fullmatch(name)):
            raise Refused(f"--{key} is written as module:Class; {value!r} is not.")
    field = answers.owner_field
    if answers.has_owner and (not _IDENTIFIER.fullmatch(field) or keyword.iskeyword(field)):
        raise Refused(f"--owner-field {field!r} is no name for a column.")
    if field in COLUMNS:
        raise Refused(f"--owner-field {field!r} is another column of the table already.")
    prefix = answers.table_prefix
    if prefix and not _IDENTIFIER.fullmatch(prefix):
        raise Refused(f"--table-prefix {prefix!r} is no identifier: a-z, 0-9 and _ make one.")
    if len(prefix) > LONGEST_PREFIX:
        raise Refused(f"--table-prefix {prefix!r} is longer than {LONGEST_PREFIX} characters.")
    if answers.routes not in ROUTES:
        raise Refused(f"--routes is one of {', '.join(ROUTES)}; not {answers.routes!r}.")


def _has_keyword(path: str) -> bool:
    return any(keyword.iskeyword(part) for part in path.split("."))


def _parse(text: str, name: str) -> Any:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise Refused(f"{name} is no valid TOML: {error}.") from error
