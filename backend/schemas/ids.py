"""How sessions, images and domains are named: by their bare id, or by it behind a prefix.

`sess_…`, `img_…` and `domain_…` say what an id is of; the rest is the bare id, which all `id`
fields have. This is the only place that reads or writes the prefixes.
"""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, WithJsonSchema


class Kind(StrEnum):
    """What is named by a prefix, and the word for it."""

    SESSION = "sess_"
    IMAGE = "img_"
    DOMAIN = "domain_"

    @property
    def word(self) -> str:
        """Return what people call it, with its article."""
        return {Kind.SESSION: "a session", Kind.IMAGE: "an image", Kind.DOMAIN: "a domain"}[self]


def with_prefix(kind: Kind, bare: UUID) -> str:
    """Return the id with its prefix."""
    return f"{kind}{bare}"


def bare_id(kind: Kind, given: Any) -> Any:
    """Return an id without its prefix; anything else is returned as it is.

    Raise ValueError for the prefix of another kind.
    """
    found = next((one for one in Kind if isinstance(given, str) and given.startswith(one)), None)
    if found is None:
        return given
    if found is not kind:
        raise ValueError(f"this is the id of {found.word}; give that of {kind.word}")
    return given.removeprefix(kind)


def _named(kind: Kind) -> tuple[BeforeValidator, WithJsonSchema]:
    description = f"The id of {kind.word}, bare or behind `{kind}`."
    schema = {"type": "string", "format": "uuid", "description": description}
    return BeforeValidator(lambda given: bare_id(kind, given)), WithJsonSchema(schema)


SessionId = Annotated[UUID, *_named(Kind.SESSION)]
ImageId = Annotated[UUID, *_named(Kind.IMAGE)]
DomainId = Annotated[UUID, *_named(Kind.DOMAIN)]
