"""Input types applied before validation: text that can be stored, and exact values."""

import re
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator

from colloquy_kit.messages.clean import clean_text

T = TypeVar("T")


def _readable(value: Any) -> Any:
    """Return the value with all its text, including field names, in a form that can be stored.

    Its depth is bounded: see `Structure`.
    """
    if isinstance(value, str):
        return clean_text(value)
    if not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [_readable(item) for item in value]
    return {clean_text(key): _readable(item) for key, item in value.items()}


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("the NUL character is not allowed")
    return text


def _flag(sent: str) -> bool:
    try:
        return _BOOLEANS[sent.lower()]
    except KeyError:
        raise ValueError("this must be true or false") from None


def _digits(sent: str) -> str:
    if not _INTEGER.fullmatch(sent):
        raise ValueError("this must be a whole number, in digits")
    return sent


_BOOLEANS = {"true": True, "false": False}
_INTEGER = re.compile(r"-?[0-9]{1,40}")

# A route's body. Not for decisions: what a person approves is refused rather than altered.
Sent = Annotated[T, BeforeValidator(_readable)]
Text = Annotated[str, AfterValidator(_without_nul)]  # a string in a route's path or query
Flag = Annotated[bool, BeforeValidator(_flag)]  # a boolean in a route's query
Whole = Annotated[int, BeforeValidator(_digits)]  # an integer in a route's path or query
