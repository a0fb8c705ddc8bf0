"""People's decisions on calls as a run receives them: by each call's place, with what they saw."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from backend.schemas.approvals import DecisionType
from backend.tools.journal import CallKey
from backend.types import JSON
from colloquy_kit.messages.clean import clean

RUNS = (DecisionType.APPROVE, DecisionType.EDIT)
INTERRUPT = "interrupt"  # the key of the state that says what a turn waits for


@dataclass(frozen=True)
class Answer:
    """The answer to one approval request: a decision in LangChain's terms, or None if it expired.

    `arguments_hash` belongs to the arguments that were shown: only those may run.
    """

    arguments_hash: str
    decision: JSON | None


@dataclass(frozen=True)
class Answers:
    """The decisions of this turn, and the tools that no longer need one."""

    by_call: Mapping[CallKey, Answer] = field(default_factory=dict)
    allowed_tools: frozenset[str] = frozenset()

    @property
    def let_run(self) -> bool:
        """Return whether any call that waited may run."""
        decisions = [answer.decision for answer in self.by_call.values() if answer.decision]
        return any(one["type"] in RUNS for one in decisions)


def hash_arguments(arguments: JSON) -> str:
    """Return a hash of a call's arguments that does not depend on their order."""
    written = json.dumps(clean(arguments), sort_keys=True, separators=(",", ":"))
    return sha256(written.encode()).hexdigest()


def without_interrupt(state: JSON) -> JSON:
    """Return the state without its interrupt."""
    return {key: value for key, value in state.items() if key != INTERRUPT}
