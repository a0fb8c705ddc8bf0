"""A tool's parameters as every model's endpoint takes them, and its arguments as its server does.

Anthropic refuses parameters whose names have other signs than `a-zA-Z0-9_.-`, and alternatives at
the top of a schema; OpenAI an array without items. One such tool would end every turn. What a model
is told here allows no less than the tool's own schema, by which calls are checked. Pure.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from backend.tools.mcp.names import ascii_name
from backend.types import JSON

MAX_NAME = 64
_LEGAL = re.compile(rf"[a-zA-Z0-9_.-]{{1,{MAX_NAME}}}")
_ALTERNATIVES = ("anyOf", "oneOf")
_NOT_AT_TOP = (*_ALTERNATIVES, "allOf", "not", "enum", "const", "if", "then", "else", "$ref")
_SCHEMAS_BY_NAME = ("$defs", "definitions", "patternProperties", "dependentSchemas")
_SCHEMA_LISTS = (*_ALTERNATIVES, "allOf", "prefixItems")
_SCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_MOST_REFERENCES = 10  # that follow each other
_MOST_EXPANDED = 100  # schemas that describe one value

Names = Mapping[str, str]


def parameters_for_models(schema: JSON) -> JSON:
    """Return the schema that a model is shown; a schema that every endpoint takes is unchanged."""
    shown: JSON = _repaired(_flattened(schema), names_for_models(schema))
    shown["type"] = "object"
    shown.setdefault("properties", {})
    return shown


def needed_arguments(schema: JSON) -> str:
    """Return, for a tool's description, which arguments its alternatives need; empty if none do."""
    top = _resolved(schema, schema)
    names = names_for_models(schema)
    for kind in _ALTERNATIVES:
        options = [_required_by(_resolved(option, schema)) for option in _listed(top.get(kind))]
        if options and all(options):
            said = [" and ".join(names.get(name, name) for name in option) for option in options]
            return f"It needs {' or '.join(said)}."
    return ""


def names_for_models(schema: JSON) -> Names:
    """Return the names of parameters, at any depth, as models know them; legal ones stay."""
    found = list(dict.fromkeys(_property_names(schema)))
    names = {name: name for name in found if _LEGAL.fullmatch(name)}
    for name in found:
        if name not in names:
            names[name] = _free(ascii_name(name).strip("_")[:MAX_NAME], names.values())
    return names


def renamed_parameters(schema: JSON) -> Names:
    """Return the parameters that a model knows by other names, and those names."""
    return {name: told for name, told in names_for_models(schema).items() if name != told}


def arguments_for_server(arguments: JSON, schema: JSON) -> JSON:
    """Return a model's arguments under the names that the tool's own schema has for them."""
    own = {told: name for name, told in names_for_models(schema).items()}
    given: JSON = _given_back(arguments, [_flattened(schema)], own, schema)
    return given


def _property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from _properties_of(schema)
    inner = schema.values() if isinstance(schema, dict) else _listed(schema)
    for one in inner:
        yield from _property_names(one)


def _repaired(schema: Any, names: Names) -> Any:
    """Return a schema without null, with items for arrays and with legal names."""
    if schema is True:
        return {}
    if not isinstance(schema, dict):
        return schema
    fixed = {key: value for key, value in schema.items() if value is not None}
    for key, value in fixed.items():
        if key in _SCHEMAS_BY_NAME and isinstance(value, dict):
            fixed[key] = {name: _repaired(one, names) for name, one in value.items()}
        elif key in _SCHEMA_LISTS and isinstance(value, list):
            fixed[key] = [_repaired(one, names) for one in value]
        elif key in _SCHEMAS and isinstance(value, dict):
            fixed[key] = _repaired(value, names)
    if "array" in _types_of(fixed) and not isinstance(fixed.get("items"), dict | list):
        fixed["items"] = {}
    if "properties" in fixed:
        properties = _properties_of(fixed)
        fixed["properties"] = {
            names[name]: _repaired(one, names) for name, one in properties.items()
        }
    if "required" in fixed:
        fixed["required"] = [names.get(name, name) for name in _required_by(fixed)]
    return fixed


def _given_back(value: Any, schemas: list[Any], own: Names, root: JSON) -> Any:
    """Return a value, which one of the schemas describes, with its own names."""
    if not isinstance(value, dict | list):
        return value
    schemas = _expanded(schemas, root)
    if isinstance(value, list):
        items = [s["items"] for s in schemas if "items" in s]
        items += [one for s in schemas for one in _listed(s.get("prefixItems"))]
        return [_given_back(one, items, own, root) for one in value]
    given = {}
    for key, one in value.items():
        name = own.get(str(key), str(key))
        if not (inner := [_properties_of(s)[name] for s in schemas if name in _properties_of(s)]):
            name = key  # free to choose: no name of the schema's
            inner = [s["additionalProperties"] for s in schemas if "additionalProperties" in s]
        given[name] = _given_back(one, inner, own, root)
    return given


def _expanded(schemas: list[Any], root: JSON) -> list[JSON]:
    """Return the schemas with what they refer to, each with its alternatives after it."""
    found: list[JSON] = []
    left = list(schemas)
    while left and len(found) < _MOST_EXPANDED:
        one = _resolved(left.pop(), root)
        found.append(one)
        left += [option for kind in (*_ALTERNATIVES, "allOf") for option in _listed(one.get(kind))]
    return found


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
