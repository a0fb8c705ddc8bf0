"""Where the records of a process go: to standard error, all in one format."""

import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from types import TracebackType

from backend.logs.formats import FORMATS
from backend.logs.outages import Outages

AUDIT = "colloquy.audit"  # each event of the audit trail
REFUSED = "colloquy.refused"  # each refused call
QUIET = ("httpx", "httpx2", "httpcore", "openai", "rq", "rq.worker", "uvicorn.access", "langsmith")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
log = logging.getLogger(__name__)


def own_name() -> str:
    """Return the name of this process among those of all hosts."""
    return f"{socket.gethostname()}.{os.getpid()}"


def set_up_logs(process: str, level: str, form: str, instance: str | None = None) -> None:
    """Write all records to standard error; those of libraries from WARNING on.

    `process`: what kind of process this is. `form`: a name of FORMATS. `instance`: its own name.
    """
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # The audit trail is logged however quiet the rest is.
    logging.getLogger(AUDIT).setLevel(logging.INFO)
    logging.getLogger(REFUSED).setLevel(logging.INFO)
    # It quotes unreadable server output, which may contain a secret.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    if logging.getLogger().handlers:
        return  # whoever runs us has set up logs already, as tests do
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATS[form](process, instance or own_name()))
    handler.addFilter(_once)
    if level != "DEBUG":
        handler.addFilter(Outages())
    logging.basicConfig(level=level, handlers=[handler])
    logging.captureWarnings(True)
    sys.excepthook = _say_uncaught
    threading.excepthook = _say_ended


def _once(record: logging.LogRecord) -> bool:
    """Return whether the record tells anything new: Uvicorn repeats errors that were logged."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return True
    is_told = getattr(error, "is_told", False)
    with suppress(AttributeError):
        error.is_told = True  # type: ignore[attr-defined]  # most exceptions take any attribute
    return not (is_told and record.name == "uvicorn.error")


def _say_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        log.critical("This process ends", exc_info=(kind, error, trace))


def _say_ended(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is None or issubclass(ended.exc_type, SystemExit):
        return
    name = ended.thread.name if ended.thread else "unknown"
    trace = (ended.exc_type, ended.exc_value, ended.exc_traceback)
    log.error("The thread %s has ended", name, exc_info=trace)
