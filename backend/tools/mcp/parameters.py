"""A tool's parameters as every model's endpoint takes them, and its arguments as its server does.

Anthropic refuses parameters whose names have other signs than `a-zA-Z0-9_.-`, and alternatives at
the top of a schema; OpenAI an array without items. One such tool would end every turn. What a model
is told here allows no less than the tool's own schema, by which calls are checked. Pure.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from backend.tools.mcp.names import ascii_name
from backend.types import JSON

MAX_NAME = 64
_LEGAL = re.compile(rf"[a-zA-Z0-9_.-]{{1,{MAX_NAME}}}")
_ALTERNATIVES = ("anyOf", "oneOf")
_NOT_AT_TOP = (*_ALTERNATIVES, "allOf", "not", "enum", "const", "if", "then", "else", "$ref")
_SCHEMAS_BY_NAME = ("$defs", "definitions", "patternProperties", "dependentSchemas")
_SCHEMA_LISTS = (*_ALTERNATIVES, "allOf", "prefixItems")
_SCHEMAS = ("additionalProperties", "not", "if", "then", "else", "contains")
_MOST_REFERENCES = 10  # that follow each other

Names = Mapping[str, str]


def parameters_for_models(schema: JSON) -> JSON:
    """Return the schema that a model is shown; a schema that every endpoint takes is unchanged."""
    shown: JSON = _repaired(_flattened(schema))
    shown["type"] = "object"
    shown.setdefault("properties", {})
    return shown


def needed_arguments(schema: JSON) -> str:
    """Return, for a tool's description, which arguments its alternatives need; empty if none do."""
    top = _resolved(schema, schema)
    names = names_for_models(_properties_of(_flattened(schema)))
    for kind in _ALTERNATIVES:
        options = [_required_by(_resolved(option, schema)) for option in _listed(top.get(kind))]
        if options and all(options):
            said = [" and ".join(names.get(name, name) for name in option) for option in options]
            return f"It needs {' or '.join(said)}."
    return ""


def names_for_models(properties: Mapping[str, Any]) -> Names:
    """Return the names of parameters as models know them; legal ones stay."""
    names = {name: name for name in properties if _LEGAL.fullmatch(name)}
    for name in properties:
        if name not in names:
            names[name] = _free(ascii_name(name).strip("_")[:MAX_NAME], names.values())
    return names


def renamed_parameters(schema: JSON) -> Names:
    """Return the parameters that a model knows by other names, and those names."""
    names = names_for_models(_properties_of(_flattened(schema)))
    return {name: told for name, told in names.items() if name != told}


def arguments_for_server(arguments: JSON, schema: JSON) -> JSON:
    """Return a model's arguments under the names that the tool's own schema has for them."""
    given: JSON = _given_back(arguments, _flattened(schema))
    return given


def _repaired(schema: Any, *, is_named: bool = True) -> Any:
    """Return a schema without null, with items for arrays and, `is_named`, with legal names.

    Names change only where they are found again in arguments: not in alternatives and references.
    """
    if schema is True:
        return {}
    if not isinstance(schema, dict):
        return schema
    fixed = {key: value for key, value in schema.items() if value is not None}
    for key, value in fixed.items():
        if key in _SCHEMAS_BY_NAME and isinstance(value, dict):
            fixed[key] = {name: _repaired(one, is_named=False) for name, one in value.items()}
        elif key in _SCHEMA_LISTS and isinstance(value, list):
            fixed[key] = [_repaired(one, is_named=False) for one in value]
        elif key in _SCHEMAS and isinstance(value, dict):
            fixed[key] = _repaired(value, is_named=False)
    if "array" in _types_of(fixed):
        fixed["items"] = _repaired(fixed.get("items", {}), is_named=is_named)
    properties = _properties_of(fixed)
    names = names_for_models(properties) if is_named else {name: name for name in properties}
    if "properties" in fixed:
        fixed["properties"] = {
            names[name]: _repaired(one, is_named=is_named) for name, one in properties.items()
        }
    if "required" in fixed:
        fixed["required"] = [names.get(name, name) for name in _required_by(fixed)]
    return fixed


def _given_back(value: Any, schema: Any) -> Any:
    if not isinstance(schema, dict):
        return value
    if isinstance(value, list):
        return [_given_back(one, schema.get("items")) for one in value]
    if not isinstance(value, dict):
        return value
    properties = _properties_of(schema)
    own = {told: name for name, told in names_for_models(properties).items()}
    named = [(own.get(str(key), str(key)), one) for key, one in value.items()]
    return {name: _given_back(one, properties.get(name)) for name, one in named}


def _flattened(schema: JSON) -> JSON:
    """Return a schema of arguments without alternatives at its top: it takes those of each."""
    top = _resolved(schema, schema)
    if not top.keys() & set(_NOT_AT_TOP):
        return top
    properties, required = _properties_of(top), _required_by(top)
    for kind in ("allOf", *_ALTERNATIVES):
        for option in _listed(top.get(kind)):
            part = _resolved(option, schema)
            properties = {**_properties_of(part), **properties}
            required += _required_by(part) if kind == "allOf" else []
    kept = {key: value for key, value in top.items() if key not in _NOT_AT_TOP}
    needed = {"required": list(dict.fromkeys(required))} if required else {}
    return {**kept, "properties": properties, **needed}


def _resolved(schema: Any, root: JSON) -> JSON:
    """Return what a schema refers to within the root, with its own fields."""
    found = schema if isinstance(schema, dict) else {}
    for _ in range(_MOST_REFERENCES):
        reference = found.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        place: Any = root
        for part in reference.removeprefix("#/").split("/"):
            place = place.get(part) if isinstance(place, dict) else None
        own = {key: value for key, value in found.items() if key != "$ref"}
        found = {**(place if isinstance(place, dict) else {}), **own}
    return found


def _types_of(schema: JSON) -> Collection[Any]:
    kind = schema.get("type")
    return kind if isinstance(kind, list) else (kind,)


def _properties_of(schema: JSON) -> JSON:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required_by(schema: JSON) -> list[str]:
    return [name for name in _listed(schema.get("required")) if isinstance(name, str)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _free(name: str, taken: Collection[str]) -> str:
    name, number, chosen = name or "argument", 1, name or "argument"
    while chosen in taken:
        number += 1
        chosen = f"{name[: MAX_NAME - 4]}_{number}"
    return chosen
