"""What models write in a given form, read tolerantly: null stands for what is absent."""

from typing import Any

from pydantic import BaseModel, model_validator


class Written(BaseModel):
    """The base of such forms."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: value for key, value in given.items() if value is not None}
