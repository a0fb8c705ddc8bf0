"""How a tool call ended that has no result of its tool: for people, in their own words.

The text of such a result is written for the model, which it tells what to do next. The display
message of the result names the outcome in its metadata, as `outcome`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class CallOutcome(StrEnum):
    """Why a call was not run; or that nobody knows whether it was."""

    REJECTED = "rejected"
    DENIED = "denied"
    EXPIRED = "expired"
    CHANGED = "changed"
    LIMITED = "limited"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> "CallOutcome | None":
        """Return the outcome that a result's metadata names; None: the tool itself answered."""
        named = metadata.get("outcome")
        return cls(named) if isinstance(named, str) and named in _WORDS else None

    @property
    def label(self) -> str:
        """The outcome in a word or two, for the line of the call."""
        return _WORDS[self][0]

    @property
    def sentence(self) -> str:
        """The outcome as a sentence."""
        return _WORDS[self][1]


_WORDS = {
    CallOutcome.REJECTED: ("rejected", "Not run: this call was rejected."),
    CallOutcome.DENIED: ("not allowed", "Not run: the rules of this session forbid this tool."),
    CallOutcome.EXPIRED: ("expired", "Not run: nobody decided on this call in time."),
    CallOutcome.CHANGED: (
        "not run",
        "Not run: the arguments were no longer those that were decided on.",
    ),
    CallOutcome.LIMITED: ("over the limit", "Not run: the agent has used up its calls."),
    CallOutcome.UNAVAILABLE: ("not available", "Not run: this tool is not available now."),
    CallOutcome.UNKNOWN: ("outcome unknown", "It is unknown whether this call has taken effect."),
}
