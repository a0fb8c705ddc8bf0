"""Fitting a call's arguments to the schema of its tool, where only one thing can be meant. Pure.

Models write `"[1, 2]"` where an array is wanted, and null for what they leave out.
"""

import json
from collections.abc import Mapping
from typing import Any

from backend.types import JSON
from colloquy_kit.messages.parts import has_too_many_parts

MAX_DEPTH = 10
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")
_KINDS: Mapping[type, tuple[str, ...]] = {
    dict: ("object",),
    list: ("array",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    type(None): ("null",),
}


def fit_arguments(schema: JSON, arguments: JSON) -> JSON:
    """Return the arguments, fitted to a JSON schema; the same object if nothing is changed.

    A text where the schema takes no text, but what the text is as JSON, becomes that. A null that
    the schema does not take is left out where it is optional. Whatever else does not fit stays,
    for the tool to refuse.
    """
    fitted = _Fitting(schema).fit(schema, arguments, 0)
    return fitted if isinstance(fitted, dict) and fitted != arguments else arguments


class _Fitting:
    def __init__(self, root: JSON) -> None:
        self._root = root

    def fit(self, schema: Any, value: Any, depth: int) -> Any:
        """Return a value fitted to a schema within the root."""
        options = self._options(schema, 0)
        if depth > MAX_DEPTH or not options:
            return value
        if isinstance(value, str) and not _take(options, ("string",)):
            value = _read(value, options)
        if isinstance(value, dict):
            return self._fit_object(options, value, depth)
        if isinstance(value, list):
            items = next((each["items"] for each in options if "items" in each), None)
            return [self.fit(items, each, depth + 1) for each in value]
        return value

    def _fit_object(self, options: list[JSON], value: JSON, depth: int) -> JSON:
        schema = next((each for each in options if isinstance(each.get("properties"), dict)), None)
        if schema is None:
            return value
        properties, required = schema["properties"], schema.get("required")
        needed = required if isinstance(required, list) else ()
        return {
            name: self.fit(properties.get(name), given, depth + 1)
            for name, given in value.items()
            if given is not None or name in needed or self._takes_null(properties.get(name))
        }

    def _takes_null(self, schema: Any) -> bool:
        options = self._options(schema, 0)
        return not options or _take(options, ("null",))

    def _options(self, schema: Any, depth: int) -> list[JSON]:
        """Return the alternatives of a schema; none if something in it is not understood."""
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return []
        if isinstance(reference := schema.get("$ref"), str):
            return self._options(self._referred(reference), depth + 1)
        for name in _ALTERNATIVES:
            if isinstance(inner := schema.get(name), list):
                options = [self._options(each, depth + 1) for each in inner]
                return [each for some in options for each in some] if all(options) else []
        return [schema] if isinstance(schema.get("type"), str | list) else []

    def _referred(self, reference: str) -> Any:
        found: Any = self._root
        for name in reference.removeprefix("#/").split("/"):
            found = found.get(name) if isinstance(found, dict) else None
        return found


def _take(options: list[JSON], kinds: tuple[str, ...]) -> bool:
    """Return whether one of the alternatives takes a value of one of these types."""
    named = (each["type"] for each in options)
    taken = [kind for given in named for kind in ([given] if isinstance(given, str) else given)]
    return any(kind in taken for kind in kinds)


def _read(text: str, options: list[JSON]) -> Any:
    """Return what the text is as JSON, if the alternatives take that."""
    if has_too_many_parts(text):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if _take(options, _KINDS.get(type(value), ())) else text
