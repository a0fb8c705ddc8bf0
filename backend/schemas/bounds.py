"""Types with upper bounds, shared by the wire contract.

Values stored before a bound existed are still read: text unchanged, numbers lowered to the bound.
A model's name is trimmed also then: policies' settings are stored as they were sent.
"""

import math
import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
)
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from backend.schemas.wire import is_reading
from backend.text import MARKS
from backend.types import JSON

T = TypeVar("T")

LARGEST_WHOLE = 2**53 - 1  # above it, JSON readers in other languages lose digits
LARGEST_COST = 10**12
LONGEST_DAYS = 36_500
YEAR_SECONDS = 31_536_000
LONGEST_NAME = 80
LONGEST_MODEL_NAME = 200
LONGEST_DESCRIPTION = 10_000
LONGEST_SUGGESTION = 300
LONGEST_PROMPT = 500_000
LONGEST_SETTING = 100_000
MOST_ENTRIES = 200
LARGEST_STORED = 2**63 - 1
DEEPEST = 40
# Of any script: a letter, then letters with their marks, digits, `_` and `-`.
_AGENT_NAME = re.compile(rf"[^\W\d_][\w{MARKS}-]*")


@dataclass(frozen=True)
class UpperBound:
    """An upper bound of what clients may send: of a number, or of a text's length."""

    most: int

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Implement Pydantic's hook: the same schema with this bound."""
        return core_schema.with_info_wrap_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JSON:
        """Implement Pydantic's hook: the bound as JSON Schema expresses it."""
        written = handler(schema)
        return {**written, "maxLength" if written.get("type") == "string" else "maximum": self.most}

    def _check(self, value: Any, then: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        if is_reading(info) and isinstance(value, float):
            value = min(value, self.most)  # PostgreSQL returns large integers as floats
        read = then(value)
        is_text = isinstance(read, str)
        if (len(read) if is_text else read) <= self.most:
            return read
        if is_reading(info):
            return read if is_text else type(read)(self.most)
        if is_text:
            raise PydanticKnownError("string_too_long", {"max_length": self.most})
        raise PydanticKnownError("less_than_equal", {"le": self.most})


def refuse_unfit(value: Any, depth: int = 0) -> None:
    """Raise ValueError if the JSON value holds a number that cannot be stored, or is too deep."""
    if depth > DEEPEST:
        raise ValueError(f"this is nested deeper than {DEEPEST} levels")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            refuse_unfit(item, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number that can be kept")
    elif isinstance(value, int) and abs(value) > LARGEST_STORED:
        raise ValueError("this has a whole number of more than 64 bits; write it as a text")


def _fit(value: Any, info: ValidationInfo) -> Any:
    if not is_reading(info):
        refuse_unfit(value)
    return value


def _few(value: Any, info: ValidationInfo) -> Any:
    if len(value) > MOST_ENTRIES and not is_reading(info):
        raise ValueError(f"there are {len(value):,} entries; at most {MOST_ENTRIES} are allowed")
    return value


def _say_most(schema: JSON) -> None:
    schema["maxProperties" if schema.get("type") == "object" else "maxItems"] = MOST_ENTRIES


def _some(value: Any, info: ValidationInfo) -> Any:
    if not value and not is_reading(info):
        context = {"field_type": "List", "min_length": 1, "actual_length": 0}
        raise PydanticKnownError("too_short", context)
    return value


def _trimmed(value: Any, info: ValidationInfo) -> Any:
    return value.strip() if isinstance(value, str) and not is_reading(info) else value


def _named(value: str, info: ValidationInfo) -> str:
    if is_reading(info) or (value and value.isprintable()):
        return value
    if not value:
        raise PydanticKnownError("string_too_short", {"min_length": 1})
    raise ValueError("a model's name has no line breaks or other invisible characters")


def _agent_name(name: str, info: ValidationInfo) -> str:
    composed = unicodedata.normalize("NFC", name)
    if not (is_reading(info) or _AGENT_NAME.fullmatch(composed)):
        raise PydanticKnownError("string_pattern_mismatch", {"pattern": "a letter, then [\\w-]*"})
    return composed


def _default_if_blank(value: Any, info: ValidationInfo) -> Any:
    return None if is_reading(info) and isinstance(value, str) and not value.strip() else value


Fit = AfterValidator(_fit)
FreeJSON = Annotated[JSON, Fit]
Tokens = Annotated[int, Field(ge=1), UpperBound(LARGEST_WHOLE)]
Cost = Annotated[float, Field(gt=0), UpperBound(LARGEST_COST)]
Days = Annotated[int, Field(ge=0), UpperBound(LONGEST_DAYS)]
# Seconds that a person has to decide.
Waiting = Annotated[int, Field(ge=1), UpperBound(YEAR_SECONDS)]
Name = Annotated[str, BeforeValidator(_trimmed), Field(min_length=1, max_length=LONGEST_NAME)]
AgentName = Annotated[
    str, AfterValidator(_agent_name), Field(min_length=1, max_length=LONGEST_NAME)
]
ModelName = Annotated[
    str,
    BeforeValidator(lambda name: name.strip() if isinstance(name, str) else name),
    AfterValidator(_named),
    Field(json_schema_extra={"minLength": 1}),
    UpperBound(LONGEST_MODEL_NAME),
]
ModelOrDefault = Annotated[ModelName | None, BeforeValidator(_default_if_blank)]
Description = Annotated[str, UpperBound(LONGEST_DESCRIPTION)]
Suggestion = Annotated[
    str, BeforeValidator(_trimmed), Field(min_length=1), UpperBound(LONGEST_SUGGESTION)
]
Prompt = Annotated[str, UpperBound(LONGEST_PROMPT)]
Entries = Annotated[T, AfterValidator(_few), Field(json_schema_extra=_say_most)]
Some = Annotated[T, AfterValidator(_some), Field(json_schema_extra={"minItems": 1})]
Setting = Annotated[str, UpperBound(LONGEST_SETTING)]  # of a tool server; checked for credentials
