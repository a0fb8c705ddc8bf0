"""What a turn has spent, by model, and its form in the turn's row: pure rules."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from langchain_core.messages.ai import UsageMetadata

from backend.llm.events import ModelCall
from backend.llm.wire.deltas import MAX_TOKENS
from backend.schemas.conversations.turns import Usage
from backend.types import JSON

UNKNOWN = "unknown"  # where no model was recorded
DIGITS = 12


@dataclass(frozen=True)
class Spent:
    """Usage by the name that each model was asked by."""

    by_model: Mapping[str, Usage] = field(default_factory=dict)

    @classmethod
    def read(cls, stored: JSON) -> Self:
        """Read it from a turn's row."""
        total = Usage.read(stored)
        others = {name: Usage.read(used) for name, used in stored.get("others", {}).items()}
        main = _minus(total, sum_usages(others.values()))
        named = {str(stored.get("model", UNKNOWN)): main} if main != Usage() else {}
        return cls(named | others)

    @property
    def total(self) -> Usage:
        """Return the usage of all models together."""
        return sum_usages(self.by_model.values())

    @property
    def main(self) -> str | None:
        """Return the model that was asked most often; None if none was."""
        calls = {name: used.model_calls for name, used in self.by_model.items()}
        return max(calls, key=calls.__getitem__, default=None)

    def plus(self, calls: Iterable[ModelCall]) -> "Spent":
        """Return it with these calls added; a call without an answer has no usage."""
        spent = self
        for call in calls:
            if call.has_ended and not call.failure:
                name = str(call.payload.get("model") or UNKNOWN)
                spent = spent.with_more(Spent({name: answer_usage(call.used, call.cost)}))
        return spent

    def with_more(self, other: "Spent") -> "Spent":
        """Return the sum of both."""
        names = [*self.by_model, *(name for name in other.by_model if name not in self.by_model)]
        both = (self.by_model, other.by_model)
        return Spent({n: sum_usages(one[n] for one in both if n in one) for n in names})

    def dump(self) -> JSON:
        """Return its form for a turn's row: the total, and apart from it all but the main model."""
        if self.main is None:
            return {}
        others = {name: _dump(used) for name, used in self.by_model.items() if name != self.main}
        written = {**_dump(self.total), "model": self.main}
        return {**written, "others": others} if others else written


def answer_usage(used: UsageMetadata | None, cost: float) -> Usage:
    """Return the usage of one model answer; some report none."""
    if used is None:
        return Usage(model_calls=1)
    tokens = {
        "input_tokens": used["input_tokens"],
        "cached_tokens": used.get("input_token_details", {}).get("cache_read", 0),
        "output_tokens": used["output_tokens"],
        "reasoning_tokens": used.get("output_token_details", {}).get("reasoning", 0),
    }
    counted = {name: min(max(int(count), 0), MAX_TOKENS) for name, count in tokens.items()}
    return Usage(**counted, cost=max(cost, 0.0), model_calls=1)


def sum_usages(usages: Iterable[Usage]) -> Usage:
    """Return the sum of the usages."""
    usages = list(usages)
    return Usage(**{name: sum(getattr(one, name) for one in usages) for name in Usage.model_fields})


def _minus(one: Usage, other: Usage) -> Usage:
    left = {name: getattr(one, name) - getattr(other, name) for name in Usage.model_fields}
    return Usage(**{name: max(round(value, DIGITS), 0) for name, value in left.items()})


def _dump(used: Usage) -> JSON:
    return used.model_dump(exclude_defaults=True)
