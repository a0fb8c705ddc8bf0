"""What is known of a source, as lists show it, and why one cannot be read, in words."""

import asyncio
import logging
import re
from dataclasses import dataclass, replace

from backend.data.origins import Origin
from backend.data.questions import Question
from backend.data.tables import TableInfo
from backend.sandbox.errors import OutOfMemory, OutOfTime, SandboxError

_STILL_READING = (
    "It is still being read, or waits for others that are. List again in a minute, or go on with "
    "describe_source of this one."
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SourceInfo:
    """A source as list_sources shows it; `error` says why it cannot be read, if so.

    `dialect` is that of its SQL in the parser's words, `note` what is to be said of its tables,
    `size` the bytes of a file.
    """

    name: str
    kind: str
    description: str
    tables: tuple[TableInfo, ...] = ()
    error: str | None = None
    dialect: str = "duckdb"
    note: str = ""
    size: int | None = None


def info_of(origin: Origin) -> SourceInfo:
    """Return what is known of a source before it is read."""
    return SourceInfo(origin.name, origin.kind, origin.description, size=origin.size)


def listed(origin: Origin, task: asyncio.Task[SourceInfo]) -> SourceInfo:
    """Return a source as its task has read it, or why it has not: each fails alone."""
    info = info_of(origin)
    if not task.done():
        return replace(info, error=_STILL_READING)
    failure = task.exception()
    if failure is None:
        return task.result()
    _log.error("The source %s cannot be listed", origin.name, exc_info=failure)
    return replace(info, error="It cannot be read: an unexpected error, which the log has.")


def too_much(error: SandboxError) -> str:
    """Return what to say of a source that took too much to read."""
    if isinstance(error, OutOfTime):
        return "Reading it takes too long. Make it smaller, or split it."
    if isinstance(error, OutOfMemory):
        return "Reading it needs more memory than it may have. Make it smaller, or split it."
    return error.detail


def mentions(question: Question, name: str) -> bool:
    """Return whether a query names a source or a table."""
    if not isinstance(question, str):
        return False
    return re.search(rf"\b{re.escape(name)}\b", question, re.IGNORECASE) is not None
