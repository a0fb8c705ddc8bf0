"""Parameters of tools in the small part of JSON Schema that all endpoints take. Pure.

Gemini knows no references, constants or alternatives, Anthropic no alternatives at the top, OpenAI
no array without items. What a tool takes is still for its own schema to say: a simpler one only
describes less, or the first of several alternatives.
"""

from collections.abc import Mapping
from typing import Any

from backend.types import JSON

MAX_DEPTH = 12
MAX_NODES = 5_000
_KEPT = ("type", "description", "enum", "required")
_BOUNDS = ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern")
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")
_REFERENCE = "#/"


def simplify_schema(schema: JSON) -> JSON:
    """Return the schema of a tool's parameters, simplified; of one without end the beginning."""
    simple = _Simplifier(schema).simplify(schema, 0)
    return {"properties": {}, **simple, "type": "object"}


class _Simplifier:
    """Simplifies one schema; a reference is replaced by what it refers to, within limits."""

    def __init__(self, root: JSON) -> None:
        self._root = root
        self._nodes = 0

    def simplify(self, given: Any, depth: int) -> JSON:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES or not isinstance(given, Mapping):
            return {"type": "string"}
        schema = self._chosen(given)
        simple = {key: schema[key] for key in (*_KEPT, *_BOUNDS) if key in schema}
        if "const" in schema:
            simple["enum"] = [schema["const"]]
        simple["type"] = kind = _type_of(schema)
        if kind == "object":
            properties = schema.get("properties") or {}
            simple["properties"] = {
                name: self.simplify(each, depth + 1) for name, each in properties.items()
            }
        if kind == "array":
            first = next(iter(schema.get("prefixItems") or ()), None)
            simple["items"] = self.simplify(schema.get("items") or first or {}, depth + 1)
        return simple

    def _chosen(self, schema: Mapping[str, Any]) -> JSON:
        """Return the schema with what it refers to, and the first of its alternatives."""
        chosen = dict(schema)
        for _ in range(MAX_DEPTH):
            inner = self._referred(chosen.pop("$ref", None))
            for name in _ALTERNATIVES:
                options = [each for each in chosen.pop(name, None) or () if not _is_null(each)]
                used = options if name == "allOf" else options[:1]
                inner = [*inner, *(each for each in used if isinstance(each, Mapping))]
            if not inner:
                break
            for each in inner:
                chosen = {**each, **chosen}
        return chosen

    def _referred(self, reference: Any) -> list[Mapping[str, Any]]:
        if not isinstance(reference, str) or not reference.startswith(_REFERENCE):
            return []
        found: Any = self._root
        for name in reference.removeprefix(_REFERENCE).split("/"):
            found = found.get(name) if isinstance(found, Mapping) else None
        return [found] if isinstance(found, Mapping) else []


def _is_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _type_of(schema: JSON) -> str:
    """Return the one type of a schema; most that name none are of texts."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), None)
    if isinstance(kind, str):
        return kind
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "string"
