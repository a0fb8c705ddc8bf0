"""Cleaning values for a conversation: any value becomes strict JSON for JSONB and models."""

import base64
import dataclasses
import math
import numbers
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

NUL_SYMBOL = "\u2400"
MAX_DEPTH = 60
LARGEST_INT = 2**63 - 1
TOO_DEEP = "<nested too deeply>"


def clean(value: Any) -> Any:
    """Return the value as strict JSON; a clean value comes back equal.

    JSONB refuses NUL, lone surrogates, NaN and infinities; models refuse lone surrogates; neither
    supports bytes or dates; other languages lose integers beyond 64 bits. A value of an unknown
    class becomes the class's name, because its text may hold a secret.
    """
    return _clean(value, ())


def clean_text(text: str) -> str:
    """Return the text with NUL and lone surrogates replaced, and surrogate pairs joined."""
    text = text.replace("\x00", NUL_SYMBOL)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _clean(value: Any, path: tuple[int, ...]) -> Any:
    if value is None or value is True or value is False:
        return value
    if type(value) is str:
        return clean_text(value)
    if isinstance(value, dict | list | tuple | set | frozenset | Mapping):
        return _clean_container(value, path)
    if isinstance(value, int | float | numbers.Real):
        return _clean_number(value)
    return _clean_other(value, path)


def _clean_number(value: Any) -> int | float | str:
    if isinstance(value, int | numbers.Integral):
        whole = int(value)
        if abs(whole) <= LARGEST_INT:
            return whole
        return str(whole) if whole.bit_length() < 10_000 else hex(whole)
    try:
        number = float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def _clean_container(value: Mapping[Any, Any] | Iterable[Any], path: tuple[int, ...]) -> Any:
    if len(path) >= MAX_DEPTH or id(value) in path:
        return TOO_DEEP
    path = (*path, id(value))
    if isinstance(value, Mapping):
        return {_clean_key(key): _clean(item, path) for key, item in value.items()}
    return [_clean(item, path) for item in value]


def _clean_key(key: Any) -> str:
    cleaned = _clean(key, ())
    return cleaned if isinstance(cleaned, str) else str(cleaned)


def _clean_other(value: Any, path: tuple[int, ...]) -> Any:
    if isinstance(value, Enum):
        return _clean(value.value, path)
    if isinstance(value, str):
        return clean_text("".join(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return {"__bytes__": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, BaseModel):
        return _clean(value.model_dump(), path)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return _clean(fields, path)
    return f"<{type(value).__name__}>"
