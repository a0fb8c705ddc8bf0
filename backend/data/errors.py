"""Errors of queries and sources; each message is written for the model that asked."""

from collections.abc import Iterable
from difflib import get_close_matches

from backend.errors.base import AppError


class DataError(AppError):
    """The source could not answer; the message says why and what to do."""

    status = 422


class UnknownSource(DataError):
    """There is no such source. list_sources shows those that exist."""

    status = 404


class SourceUnusable(DataError):
    """The source cannot be read at the moment; list_sources shows why."""


class CorrectionRefused(DataError):
    """The file cannot be read like that; nothing was changed."""


class QueryRefused(DataError):
    """Only one SELECT over the tables of the sources is allowed."""


class QueryFailed(DataError):
    """The source refused the query; correct it and try again."""


class QueryTimedOut(DataError):
    """The query took too long and was stopped. Filter or aggregate more, and try again."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint such as " Did you mean 'amount'?", or "" if no known name is similar."""
    by_lower = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""
