"""What spans are to the code that is traced, whatever makes them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Protocol

Value = str | int | float | bool
Attributes = Mapping[str, Value | None]


class Kind(StrEnum):
    """What a span is of: an answer to others, a question to others, or work of one's own."""

    SERVER = "server"
    CLIENT = "client"
    INTERNAL = "internal"


class Span(Protocol):
    """A piece of work under way."""

    def note(self, attributes: Attributes) -> None:
        """Add what is known of it by now; None is nothing."""

    def rename(self, name: str) -> None:
        """Give it another name."""

    def fail(self, kind: str) -> None:
        """Mark it as failed, by the kind of its error."""

    def end(self) -> None:
        """End it now, before its block does."""


class Tracer(Protocol):
    """What makes spans and sends them."""

    def span(
        self, name: str, kind: Kind, attributes: Attributes, parent: Mapping[str, str] | None
    ) -> AbstractContextManager[Span]:
        """Return a span around a block. Without a parent, it is part of the one around it."""

    def here(self) -> str | None:
        """Return the place in the trace, as W3C's traceparent."""

    def close(self) -> None:
        """Send what is left; it may take long."""
