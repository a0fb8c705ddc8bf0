"""Errors about turns and the workers that run them."""

from backend.errors.base import AppError


class TurnNotFound(AppError):
    """There is no such turn, or its session was deleted."""

    status = 404


class TurnUnfinished(AppError):
    """The turn has not ended. Rate its answer once it has."""

    status = 409


class WorkerNotFound(AppError):
    """No such worker process is running."""

    status = 404


class TooManyTurns(AppError):
    """Too many of your turns are waiting. Send the next one when some have finished."""

    status = 429
    retry_after = 10


class LeaseLost(AppError):
    """Another worker has taken over this turn, or it was deleted; this attempt may not write."""

    status = 409


class StepLimitReached(AppError):
    """The agent reached its step limit without an answer. Ask for less, or raise the limit."""


class CallLimitReached(AppError):
    """The agent has made as many calls as its domain allows. Ask for less, or raise the limit."""


class EndlessLoop(AppError):
    """The agent kept making the same call with the same result. Rephrase the message."""


class TimeLimitReached(AppError):
    """The turn took longer than its domain allows. Ask for less, or raise the limit."""


class ResponseRefused(AppError):
    """The manager gave no usable answer, even after a correction. Rephrase the message."""
