"""The formats that can be imported. Each is a module of `backend.imports.formats`."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from backend.imports.errors import ImportRefused
from backend.imports.formats import (
    chainlit,
    chatgpt,
    claude,
    colloquy,
    langgraph,
    librechat,
    open_webui,
    openai_lines,
)
from backend.imports.model import ImportedConversation, Skipped, StoredConversation
from backend.imports.upload import Upload


class Format(Protocol):
    """What a format's module has."""

    NAME: str  # as stored: the module's name
    LABEL: str  # as people read it

    def looks_like(self, upload: Upload) -> bool:
        """Return whether the upload is of this format, by names of entries and their heads."""

    def read(self, upload: Upload) -> Iterator[ImportedConversation | StoredConversation | Skipped]:
        """Yield its conversations, each read before the next; of what cannot be read, a Skipped.

        Reads entries by `upload.open` and `json_stream` only, so that limits hold. Raises
        ImportRefused if nothing at all can be read.
        """


# In the order of asking: formats with unmistakable names of files come first.
FORMATS: Sequence[Format] = (
    colloquy,
    langgraph,
    chatgpt,
    claude,
    librechat,
    open_webui,
    chainlit,
    openai_lines,
)


def find_format(upload: Upload) -> Format:
    """Return the format of an upload. Raise ImportRefused."""
    for known in FORMATS:
        if known.looks_like(upload):
            return known
    names = ", ".join(known.LABEL for known in FORMATS)
    raise ImportRefused(f"This is no export that is known here. Known are: {names}.")
