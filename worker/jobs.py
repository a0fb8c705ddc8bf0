"""The job that RQ calls by name. RQ cannot pass objects, so the process's runtime is kept here."""

from uuid import UUID

from backend.turns.run import runner

_runtime: runner.Runtime | None = None


def set_runtime(runtime: runner.Runtime) -> None:
    """Set the runtime of this process's jobs; once, before the first job."""
    global _runtime
    _runtime = runtime


def run_turn(turn_id: str) -> None:
    """Run a turn: the queue knows only a name and an id."""
    if _runtime is None:
        raise RuntimeError("This process runs no turns: start it with `python -m worker`.")
    runner.run_turn(_runtime, UUID(turn_id))
