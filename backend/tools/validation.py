"""Validating values by untrusted JSON Schemas, in a process with limits.

A pattern such as `^(a+)+$` can occupy Python's engine indefinitely, and anyOf and $ref can do so
without a pattern. So patterns run on an engine without backtracking, or on Python's if that engine
does not support them, and everything runs where it can be killed.
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from backend.sandbox.messages import Bounds
from backend.types import JSON

try:
    import re2
except ImportError:  # no wheel for this platform: only the process's limits remain
    re2 = None

BOUNDS = Bounds(seconds=2.0, megabytes=200)
NEEDED_MODULES = ("backend.tools.validation",)  # for the sandbox to import in advance
MAX_REASON_CHARS = 500
NOTHING_BUT_THE_SCHEMA: Registry[Any] = Registry()  # else a schema could make us fetch addresses

Search = Callable[[str], object]
Misfits = Iterator[ValidationError]


def find_misfit(schema: JSON, value: Any) -> str | None:
    """Return why the value does not fit the schema; None if it does, or that is unknown.

    The schema is of the draft that it names, else of 2020-12, as MCP has it. It may take any time
    and memory: run it in the sandbox, within BOUNDS.
    """
    try:
        draft = _draft_of(schema)
        draft.check_schema(schema)
        validator = _with_own_rules(draft)(schema, registry=NOTHING_BUT_THE_SCHEMA)
        misfit = best_match(validator.iter_errors(value))
    except (SchemaError, Unresolvable, re.error, RecursionError, ValueError, ArithmeticError):
        return None  # an invalid schema or no number; the tool itself will report wrong arguments
    if misfit is None:
        return None
    place = ".".join(map(str, misfit.absolute_path))
    reason = f"{place}: {misfit.message}" if place else str(misfit.message)
    return cut_reason(reason)


def cut_reason(reason: str) -> str:
    """Return a reason as long as a person reads it: it may quote values of any length."""
    return reason if len(reason) <= MAX_REASON_CHARS else f"{reason[:MAX_REASON_CHARS]}…"


def _draft_of(schema: JSON) -> Any:
    """Return the validator of the draft that a schema names. Raise ValueError."""
    if not isinstance(schema.get("$schema"), str):
        return Draft202012Validator
    return validator_for(schema, default=Draft202012Validator)


@lru_cache(maxsize=1_000)
def _compile(pattern: str) -> Search:
    """Return a function that searches for the pattern. Raise re.error for an invalid one."""
    if re2 is not None:
        try:
            search: Search = re2.compile(pattern, _OPTIONS).search
            return search
        except re2.error:
            pass  # it has lookarounds or backreferences, or is invalid
    return re.compile(pattern).search


def _pattern(validator: Any, pattern: str, value: Any, _: JSON) -> Misfits:
    if validator.is_type(value, "string") and not _compile(pattern)(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: JSON, value: Any, _: JSON) -> Misfits:
    if not validator.is_type(value, "object"):
        return
    for pattern, schema in patterns.items():
        search = _compile(pattern)
        for name, part in value.items():
            if search(name):
                yield from validator.descend(part, schema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rule: Any, value: Any, schema: JSON) -> Misfits:
    if not validator.is_type(value, "object"):
        return
    known = schema.get("properties", {})
    searches = [_compile(pattern) for pattern in schema.get("patternProperties", {})]
    extra = [n for n in value if n not in known and not any(search(n) for search in searches)]
    if validator.is_type(rule, "object"):
        for name in extra:
            yield from validator.descend(value[name], rule, path=name)
    elif extra and not rule:
        names = ", ".join(map(repr, extra))
        yield ValidationError(f"Additional properties are not allowed: {names}")


def _multiple_of(validator: Any, step: Any, value: Any, _: JSON) -> Misfits:
    """As numbers are written: as floats, 19.99 would be no multiple of 0.01."""
    if validator.is_type(value, "number") and _as_written(value) % _as_written(step):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


def _as_written(number: float) -> Fraction:
    """Return the number exactly. Raise ValueError or OverflowError for one that is none."""
    return Fraction(number) if isinstance(number, int) else Fraction(Decimal(repr(number)))


def _quiet_options() -> Any:
    options = re2.Options()
    options.log_errors = False
    return options


_OPTIONS = _quiet_options() if re2 is not None else None
_OWN_RULES = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "multipleOf": _multiple_of,
}


@cache
def _with_own_rules(draft: Any) -> Any:
    """Return the validator of a draft with the rules above."""
    return extend(draft, _OWN_RULES)
