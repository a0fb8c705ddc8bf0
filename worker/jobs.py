"""The job that RQ calls by name. RQ hands over no object, so the process's runtime is kept here."""

from uuid import UUID

from backend.turns.run import runner

_runtime: runner.Runtime | None = None


def set_runtime(runtime: runner.Runtime) -> None:
    """Say with what this process runs its jobs; once, before the first job."""
    global _runtime
    _runtime = runtime


def run_turn(turn_id: str) -> None:
    """Run a turn: a name and an id is all that the queue knows."""
    if _runtime is None:
        raise RuntimeError("This process runs no turns: start it with `python -m worker`.")
    runner.run_turn(_runtime, UUID(turn_id))
