"""What all of the wire contract is made of: models that refuse what nobody knows."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema

READING = {"is_reading": True}  # the context in which is read what another part has written

_EXACT = ("bool", "int", "float")
_OPAQUE = ("metadata", "default")  # hold no schemas that values are read by


class Wire(BaseModel):
    """What travels; a field that nobody knows is refused when a person sends it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @classmethod
    def read(cls, written: Any) -> Self:
        """Made from what another part has written, JSON or its text.

        That part may be of a newer version: what it knows more is left aside. Or of an older one:
        bounds that people are held to now do not keep it from being read.
        """
        if isinstance(written, str | bytes):
            return cls.model_validate_json(written, extra="ignore", context=READING, strict=False)
        return cls.model_validate(written, extra="ignore", context=READING, strict=False)


def _exact(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(_exact(part) for part in schema)
    if not isinstance(schema, dict):
        return schema
    parts = {name: part if name in _OPAQUE else _exact(part) for name, part in schema.items()}
    return {**parts, "strict": True} if schema.get("type") in _EXACT else parts


class Input(Wire):
    """What a person sends: a boolean is true or false, a number no text, an integer no 5.0."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """What Pydantic asks for: the same schema, with booleans and numbers as they are written.

        Pydantic's own strictness concerns all of a model: it would refuse an id for being a text.
        """
        exact: CoreSchema = _exact(handler(source))
        return exact


def is_reading(info: ValidationInfo) -> bool:
    """Return whether this is not what a person sends."""
    return info.context is READING
