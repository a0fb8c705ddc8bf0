"""What all of the wire contract is made of: models that refuse what nobody knows."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationInfo

JSON = dict[str, Any]
READING = {"is_reading": True}  # the context in which is read what another part has written


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
            return cls.model_validate_json(written, extra="ignore", context=READING)
        return cls.model_validate(written, extra="ignore", context=READING)


def is_reading(info: ValidationInfo) -> bool:
    """Whether this is not what a person sends."""
    return info.context is READING
