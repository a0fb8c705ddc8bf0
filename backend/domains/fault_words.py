"""Pydantic's validation errors as sentences that tell a person what to do."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.schemas.domains.configuration import Fault

_NEEDED = {
    "name": "Give it a name.",
    "command": "Say which command starts it.",
    "url": "Give its address, such as http://127.0.0.1:9000/mcp.",
    "tools": "Say which tools this is about: a name, or a pattern such as mail_*.",
    "rules": "Add a rule.",
    "models": "Name a model.",
    "roles": "Add a role, or leave roles out: then everyone may use the agent.",
    "transport": "Say how it is reached: streamable_http or stdio.",
}
_WORDS = {
    "missing": "This is required.",
    "extra_forbidden": "There is no field of this name.",
    "string_type": "Write text here.",
    "int_type": "Write a whole number here.",
    "int_parsing": "Write a whole number here.",
    "int_from_float": "Write a whole number here.",
    "float_type": "Write a number here.",
    "float_parsing": "Write a number here.",
    "finite_number": "Write a finite number here.",
    "bool_type": "Write true or false here.",
    "list_type": "Write a list here.",
    "dict_type": "Write fields with values here, as name: value.",
    "model_type": "Write fields with values here, as name: value.",
    "model_attributes_type": "Write fields with values here, as name: value.",
    "string_too_short": "This must not be empty.",
    "too_short": "Add at least one.",
    "string_too_long": "This is too long: at most {max_length:,} characters are allowed.",
    "too_long": "There are too many entries: at most {max_length} are allowed.",
    "greater_than_equal": "This must be at least {ge:,}.",
    "greater_than": "This must be more than {gt:,}.",
    "less_than_equal": "This must be at most {le:,}.",
    "less_than": "This must be less than {lt:,}.",
    "literal_error": "Choose one of {expected}.",
    "enum": "Choose one of {expected}.",
    "union_tag_not_found": "Say how it is reached: transport is streamable_http or stdio.",
    "union_tag_invalid": "Choose one of {expected_tags}.",
}
_IS_EMPTY = {"missing", "string_too_short", "too_short"}
_NAME_PATTERN = "Begin the name with a letter; letters, digits, - and _ may follow."


def faults_of(path: Sequence[str | int], errors: Sequence[Any]) -> list[Fault]:
    """Return a fault for each of Pydantic's errors, its path below the given one."""
    return [Fault(path=[*path, *_place(error)], message=in_words(error)) for error in errors]


def in_words(error: Mapping[str, Any]) -> str:
    """Return a sentence that says what is wrong, and what to write instead."""
    kind, place = error["type"], error["loc"]
    if kind == "too_long" and isinstance(error["input"], str):
        kind = "string_too_long"  # Pydantic counts items where a validator comes first
    field = place[-1] if place else ""
    if kind in _IS_EMPTY and field in _NEEDED:
        return _NEEDED[str(field)]
    if kind == "string_pattern_mismatch" and field == "name":
        return _NAME_PATTERN
    if kind in _WORDS:
        return _WORDS[kind].format(**{n: _whole(v) for n, v in error.get("ctx", {}).items()})
    message = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{message[:1].upper()}{message[1:]}."


def _whole(bound: Any) -> Any:
    """Return a number as people write it: 0, not 0.0."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


def _place(error: Mapping[str, Any]) -> list[str | int]:
    place = list(error["loc"])
    if place and place[0] == "mcp_servers":
        del place[2:3]  # the kind of server that was tried
    return place
