"""What is known of a source, as in lists, and why one cannot be read, in words."""

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
    """A source as list_sources shows it; `error` says why it cannot be read.

    `dialect` is its SQL dialect as the parser names it, `note` a remark about its tables, `size`
    the bytes of a file.
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
    """Return a source as its task has read it, or with an error that affects no other source."""
    info = info_of(origin)
    if not task.done():
        return replace(info, error=_STILL_READING)
    failure = task.exception()
    if failure is None:
        return task.result()
    _log.error("The source %s cannot be listed", origin.name, exc_info=failure)
    return replace(info, error="It cannot be read because of an unexpected error; see the log.")


def too_much(error: SandboxError) -> str:
    """Return the sentence for a source that exceeded its limits while it was read."""
    if isinstance(error, OutOfTime):
        return "Reading it takes too long. Make it smaller, or split it."
    if isinstance(error, OutOfMemory):
        return "Reading it needs more memory than it may have. Make it smaller, or split it."
    return error.detail


def mentions(question: Question, name: str) -> bool:
    """Return whether a query names a source or table."""
    if not isinstance(question, str):
        return False
    return re.search(rf"\b{re.escape(name)}\b", question, re.IGNORECASE) is not None
