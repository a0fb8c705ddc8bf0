"""What people have decided on calls, as a run is told: by each call's place, with what they saw."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from backend.agents.state import clean
from backend.schemas.approvals import DecisionType
from backend.tools.journal import CallKey
from backend.types import JSON

RUNS = (DecisionType.APPROVE, DecisionType.EDIT)
INTERRUPT = "interrupt"  # the key of the state that says what a turn waits for


@dataclass(frozen=True)
class Answer:
    """What became of one question: a decision in LangChain's words, or None when it expired.

    `arguments_hash` is that of the arguments that were shown: only those may run.
    """

    arguments_hash: str
    decision: JSON | None


@dataclass(frozen=True)
class Answers:
    """What was decided in this turn, and the tools that need no decision any more."""

    by_call: Mapping[CallKey, Answer] = field(default_factory=dict)
    allowed_tools: frozenset[str] = frozenset()

    @property
    def let_run(self) -> bool:
        """Whether any call may run that waited for this."""
        decisions = [answer.decision for answer in self.by_call.values() if answer.decision]
        return any(one["type"] in RUNS for one in decisions)


def hash_arguments(arguments: JSON) -> str:
    """Return what tells one call's arguments from others, in whatever order they are written."""
    written = json.dumps(clean(arguments), sort_keys=True, separators=(",", ":"))
    return sha256(written.encode()).hexdigest()


def without_interrupt(state: JSON) -> JSON:
    """Return the state of a turn that waits for nobody."""
    return {key: value for key, value in state.items() if key != INTERRUPT}
