"""Turns a call's arguments into editable fields, and their texts back into arguments. Pure."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.types import JSON
from ui.features.approvals.view import NOT_GIVEN, ApprovalView

MAX_FIELDS = 12
JSON_FIELD = "arguments"
ABSENT = ""  # a choice that leaves the argument out
_TYPES = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


class Unreadable(ValueError):
    """The text of a field is not a valid value of its argument; the message says why."""


@dataclass(frozen=True)
class Field:
    """One argument as a field: its initial text, and the values it accepts."""

    name: str
    kind: str
    value: Any
    help: str | None
    is_required: bool
    is_nullable: bool
    choices: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The initial text of the field."""
        if self.choices:
            return ABSENT if self.value is NOT_GIVEN else json.dumps(self.value)
        return "" if self.value in (NOT_GIVEN, None) else str(self.value)

    def read(self, text: str) -> Any:
        """Return the value that the text represents; NOT_GIVEN omits the argument.

        Raise Unreadable.
        """
        if text == self.text and (self.value is not NOT_GIVEN or not self.is_required):
            return self.value
        if text == "" and not self.is_required:
            return NOT_GIVEN
        if text == "" and self.is_nullable:
            return None
        return _READERS[self.kind](text)


def fields_of(call: ApprovalView) -> list[Field] | None:
    """Return a field for each argument; None where the arguments are too complex for fields."""
    properties = call.args_schema.get("properties")
    if not isinstance(properties, dict) or not 0 < len(properties) <= MAX_FIELDS:
        return None
    if call.arguments.keys() - properties.keys():
        return None
    required = call.args_schema.get("required") or []
    fields = [
        _field(name, schema, call.arguments.get(name, NOT_GIVEN), name in required)
        for name, schema in properties.items()
    ]
    simple = [field for field in fields if field is not None]
    return simple if len(simple) == len(fields) else None


def read_fields(fields: Sequence[Field], texts: Mapping[str, str]) -> tuple[JSON, dict[str, str]]:
    """Return the edited arguments, and the reason for each field that cannot be read."""
    arguments: JSON = {}
    errors: dict[str, str] = {}
    for field in fields:
        try:
            value = field.read(texts[field.name])
        except Unreadable as reason:
            errors[field.name] = str(reason)
            continue
        if value is not NOT_GIVEN:
            arguments[field.name] = value
    return arguments, errors


def read_json(text: str) -> tuple[JSON, dict[str, str]]:
    """Return the arguments from JSON text, or the reason why it cannot be read."""
    try:
        arguments = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        problem = f"Not valid JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        return {}, {JSON_FIELD: problem}
    except (ValueError, RecursionError) as error:
        return {}, {JSON_FIELD: f"Not valid JSON: {error}"}
    if not isinstance(arguments, dict):
        return {}, {JSON_FIELD: "The arguments must be one object in braces: {…}."}
    return arguments, {}


def _field(name: str, schema: Any, value: Any, is_required: bool) -> Field | None:
    if not isinstance(schema, dict):
        return None
    kind, is_nullable, choices = _kind_of(schema)
    if choices:
        options = tuple(dict.fromkeys(json.dumps(choice) for choice in choices))
        if value is not NOT_GIVEN and json.dumps(value) not in options:
            return None
        may_be_absent = value is NOT_GIVEN or not is_required
        kind, options = "choice", (ABSENT, *options) if may_be_absent else options
    elif kind is None or not _holds(kind, value, is_nullable):
        return None
    else:
        options = ()
    help_text = schema.get("description")
    words = help_text if isinstance(help_text, str) else None
    return Field(name, kind, value, words, is_required, is_nullable, options)


def _kind_of(schema: JSON) -> tuple[str | None, bool, list[Any]]:
    """Return the schema's type, whether it allows null, and the values it lists."""
    kinds = schema.get("type")
    if isinstance(options := schema.get("anyOf"), list):
        if any(not isinstance(one, dict) or set(one) - {"type", "enum"} for one in options):
            return None, False, []
        kinds = [one.get("type") for one in options]
        schema = next((one for one in options if "enum" in one), schema)
    kinds = kinds if isinstance(kinds, list) else [kinds]
    is_nullable = "null" in kinds
    named = [kind for kind in kinds if kind != "null"]
    kind = named[0] if len(named) == 1 and named[0] in _TYPES else None
    listed = schema.get("enum")
    if isinstance(listed, list) and all(isinstance(one, str | int | float) for one in listed):
        return kind, is_nullable, [*listed, *([None] if is_nullable else [])]
    if kind == "boolean":
        return kind, is_nullable, [True, False, *([None] if is_nullable else [])]
    return kind if listed is None else None, is_nullable, []


def _holds(kind: str, value: Any, is_nullable: bool) -> bool:
    if value is NOT_GIVEN or (value is None and is_nullable):
        return True
    return isinstance(value, _TYPES[kind]) and not isinstance(value, bool)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Unreadable("Enter a whole number, such as 12.") from None


def _number(text: str) -> int | float:
    try:
        number = float(text)
        if math.isfinite(number):
            return int(text) if text.strip().lstrip("+-").isdigit() else number
    except ValueError:
        pass
    raise Unreadable("Enter a number, such as 12.5.")


def _choice(text: str) -> Any:
    if text == ABSENT:
        raise Unreadable("Choose one; this argument is required.")
    return json.loads(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "string": str,
    "integer": _integer,
    "number": _number,
    "choice": _choice,
}


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number that can be stored.")
