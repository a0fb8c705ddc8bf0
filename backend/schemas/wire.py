"""The base of the wire contract: models that refuse unknown fields."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema

READING = {"is_reading": True}  # the validation context for data that another process wrote

_EXACT = ("bool", "int", "float")
_OPAQUE = ("metadata", "default")  # contain no schemas to validate by


class Wire(BaseModel):
    """A model of the wire contract; a client that sends an unknown field is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @classmethod
    def read(cls, written: Any) -> Self:
        """Return the model read from what another process wrote: JSON, or its text.

        That process may run a newer version, so unknown fields are ignored; or an older one, so
        bounds that clients are held to now do not apply.
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
    """What a client sends, read strictly: `"true"` is no boolean, `"5"` and `5.0` no integer."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Implement Pydantic's hook: the same schema, strict for booleans and numbers only.

        Pydantic's own strict mode applies to the whole model: it would refuse ids sent as text.
        """
        exact: CoreSchema = _exact(handler(source))
        return exact


def _without_defaults(schema: dict[str, Any]) -> None:
    for field in schema.get("properties", {}).values():
        field.pop("default", None)


class Change(Input):
    """Changes that a client sends: an absent field stays unchanged, so no default is documented."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)


def is_reading(info: ValidationInfo) -> bool:
    """Return whether the value was written by another process rather than sent by a client."""
    return info.context is READING
