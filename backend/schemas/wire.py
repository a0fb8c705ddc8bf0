"""What all of the wire contract is made of: models that refuse what nobody knows."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict

JSON = dict[str, Any]


class Wire(BaseModel):
    """What travels; a field that nobody knows is refused when a person sends it."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def read(cls, written: Any) -> Self:
        """Made from what another part has written, JSON or its text.

        That part may be of a newer version: what it knows more is left aside.
        """
        if isinstance(written, str | bytes):
            return cls.model_validate_json(written, extra="ignore")
        return cls.model_validate(written, extra="ignore")
