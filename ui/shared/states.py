"""Describes a turn's actual state in words, for the chat and for administrators. Pure."""

from backend.schemas.conversations.turns import Turn, TurnState, TurnStatus
from ui.shared.formats.times import whole_duration

# A worker renews its lease four times before it ends; half of it without renewal is no accident.
SILENT_SHARE = 0.5


def queue_words(before: int | None) -> str:
    """Return what a queued turn waits for: other turns of its session, or a free worker."""
    if not before:
        return "Waiting for a worker"
    return f"Waiting: {before} turn{'' if before == 1 else 's'} before it"


def waiting_words(calls: int, *, is_reader: bool = False) -> str:
    """Return for whom a turn waits, and for how many decisions; `is_reader`: for the owner."""
    whom = "its owner" if is_reader else "you"
    return f"Waiting for {whom}: {calls} call{'' if calls == 1 else 's'} to decide"


def silence_words(turn: TurnState) -> str:
    """Return for how long the worker has sent no heartbeat, if that is long; else empty."""
    heartbeat, left = turn.heartbeat_seconds, turn.lease_seconds
    if heartbeat is None or left is None or heartbeat < SILENT_SHARE * (heartbeat + left):
        return ""
    if left < 0:
        return "worker lost, another one is taking over"
    return f"no heartbeat for {heartbeat:.0f} s"


def loss_words(turn: TurnState) -> str:
    """Return how often it was resumed after losing its worker; empty if it never was."""
    if not turn.losses:
        return ""
    times = "" if turn.losses == 1 else f" {turn.losses} times"
    return f"resumed{times} after a lost worker"


def wait_words(seconds: float, reason: str) -> str:
    """Return that a turn waits for the model's provider, and why, until no time is left."""
    if seconds <= 0:
        return "Asking the model again"
    why = (reason or "it is busy").rstrip(".")
    return f"Waiting for the model's provider: {why}"


def next_try_words(seconds: float) -> str:
    """Return for how much longer a turn waits for the model's provider; empty if it does not."""
    return f"next try in {whole_duration(seconds)}" if seconds > 0 else ""


def running_words(turn: Turn, step: int, seconds: float) -> list[str]:
    """Return the details of a running turn: time, step, silence, losses."""
    parts = [whole_duration(max(seconds, 0)), f"step {step}", silence_words(turn), loss_words(turn)]
    return [words for words in parts if words]


def end_words(turn: Turn) -> str:
    """Return how a turn has ended; empty if a person has stopped it."""
    if turn.status is TurnStatus.STOPPED:
        return ""
    return f"It failed: {turn.error.title}." if turn.error else "The answer is ready."
