"""How a record of the log is written: as one line of text, or as one object of JSON."""

import json
import logging
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from backend.logs.fields import known, known_of

TRACEBACK = "traceback"  # the field that is written in several lines of text
# What a record has of its own; anything else was passed with `extra`.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_UNWANTED = frozenset({"color_message"})  # Uvicorn's: its message with escape sequences
_IN_MESSAGE = "\nTraceback (most recent call last):\n"  # where a library has put one
_BARE = re.compile(r"[!#-<>-~]+")  # needs no quotes: printable, no space, quote or equals sign


class Records(logging.Formatter):
    """What both formats share: the fields of a record.

    `process` is the kind of process, `instance` says which one it is.
    """

    def __init__(self, process: str, instance: str) -> None:
        super().__init__()
        self._process, self._instance = process, instance

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return all fields of a record; what it says of its work overrides what is known of it."""
        message, *rest = record.getMessage().split(_IN_MESSAGE, 1)
        fields: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "process": self._process,
            "instance": self._instance,
            "logger": record.name,
            "message": message,
        }
        raised = record.exc_info[1] if record.exc_info else None
        given = {**known(), **known_of(raised), **_extra(record)}
        for name, value in given.items():
            fields[f"{name}_" if name in fields else name] = _plain(value)
        if record.exc_info:
            fields[TRACEBACK] = self.formatException(record.exc_info)
        elif rest:
            fields[TRACEBACK] = _IN_MESSAGE.lstrip() + rest[0].rstrip()
        return fields


class Json(Records):
    """One object of JSON per record, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        return json.dumps(self.fields(record))


class Text(Records):
    """One line per record, its further fields as `name=value` at the end.

    Only a traceback has lines of its own, which are indented: no other line is.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line, and those of its traceback."""
        fields = self.fields(record)
        trace = fields.pop(TRACEBACK, None)
        time, level, process, instance, logger, message = (fields.pop(one) for one in _HEAD)
        pairs = "".join(f" {_escape(name)}={_value(value)}" for name, value in fields.items())
        head = f"{time} {level:<7} {process} {instance} {_escape(logger)}"
        lines = [f"{head}: {_escape(message)}{pairs}"]
        if trace is not None:
            lines += [f"  {_escape(line)}" for line in str(trace).split("\n")]
        return "\n".join(lines)


_HEAD = ("time", "level", "process", "instance", "logger", "message")
FORMATS: Mapping[str, type[Records]] = {"text": Text, "json": Json}


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    return {k: v for k, v in vars(record).items() if k not in _OWN and k not in _UNWANTED}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what JSON does not know, as its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    is_known = value is None or isinstance(value, str | int)
    is_number = isinstance(value, float) and math.isfinite(value)
    return value if is_known or is_number else str(value)


def _value(value: Any) -> str:
    """Return a field's value so that it is clear where it ends."""
    if isinstance(value, str) and _BARE.fullmatch(value):
        return value
    return _escape(json.dumps(value, ensure_ascii=False))


def _escape(text: str) -> str:
    """Return the text in one line, without what a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
