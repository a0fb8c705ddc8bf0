"""Errors raised when a person, turn, session or domain reaches its limit."""

from backend.errors.base import AppError


class TokensUsedUp(AppError):
    """Your tokens for today (UTC) are used up. Continue tomorrow, or ask an admin for more."""

    status = 429
    retry_after = 600


class BudgetUsedUp(AppError):
    """Your budget for today (UTC) is used up. Continue tomorrow, or ask an admin for more."""

    status = 429
    retry_after = 600


class CostLimitReached(AppError):
    """The turn has cost as much as its domain allows. Ask for less, or raise the limit."""


class TokenLimitReached(AppError):
    """The turn has used all the tokens that its domain allows. Ask for less, or raise the limit."""


class SessionBudgetUsedUp(AppError):
    """This session has used what its domain allows for one session. Continue in a new session."""

    offer = "new_session"


class DomainBudgetUsedUp(AppError):
    """All sessions of this domain have used what it allows for a month. Continue next month."""
