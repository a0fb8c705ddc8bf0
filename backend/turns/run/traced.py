"""The span of an attempt at a turn, within the trace of the request that accepted it."""

from collections.abc import Iterator
from contextlib import contextmanager

from backend.logs.fields import add_fields
from backend.schemas.conversations.turns import Turn, TurnStatus
from backend.telemetry import gen_ai
from backend.telemetry.origins import request_of, trace_of
from backend.telemetry.spans import Span
from backend.telemetry.tracing import span, trace_id
from backend.turns.run.claim import Claim


@contextmanager
def traced_attempt(claim: Claim, handed_on: type[Exception]) -> Iterator[Span]:
    """Trace the attempt that the block runs.

    `handed_on`: what it raises where other processes go on with the turn, which is no failure.
    """
    turn = claim.turn
    known = {
        gen_ai.OPERATION: "invoke_agent",
        gen_ai.AGENT: turn.agent,
        gen_ai.CONVERSATION: str(claim.conversation_id),
        gen_ai.MODEL: turn.model,
        "colloquy.turn.id": str(claim.turn_id),
        "colloquy.turn.attempt": claim.attempt,
        "colloquy.request.id": request_of(claim.request),
    }
    with span(f"invoke_agent {turn.agent}", known, parent=trace_of(claim.request)) as traced:
        add_fields(trace=trace_id())
        try:
            yield traced
        except handed_on:
            traced.end()
            raise


def note_end(traced: Span, turn: Turn | None) -> None:
    """Note how an attempt has ended; without a turn it waits for people or tasks."""
    if turn is None:
        traced.note({"colloquy.turn.status": TurnStatus.WAITING})
        return
    usage = turn.usage
    tokens = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)
    traced.note({"colloquy.turn.status": turn.status, **gen_ai.used(*tokens)})
    if turn.error:
        traced.fail(turn.error.title)
