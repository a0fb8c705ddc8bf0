"""Finding and extracting pictures and other files encoded in text or JSON. Pure.

A megabyte of base64 tells a model nothing and uses up its context.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from backend.artifacts.media_types import type_of_beginning

Keep = Callable[[str, str], str]  # (MIME type, base64) -> replacement

LEAST_CHARS = 1_000  # of unmarked base64: keys and signatures are shorter
MAX_DEPTH = 60
MEDIA = ("image/", "audio/", "video/")
_MIME_FIELDS = ("mimeType", "mime_type", "media_type", "mimetype")
_DATA_FIELDS = ("data", "blob", "base64")
# Wrapped lines, with slashes and line ends possibly escaped as in JSON.
_ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/\\])"  # otherwise each letter of a long word would be tried as a start
    r"(?:data:(?P<type>[\w.+-]{1,60}/[\w.+-]{1,60})(?:;[\w.=+-]{1,60}){0,5}?;base64,)?"
    r"(?P<data>[A-Za-z0-9+/\\]{60,}+(?:\r?\n[A-Za-z0-9+/]{60,}+)*+(?:\r?\n[A-Za-z0-9+/]{1,75}+=)?"
    r"={0,2})"
)
_WHOLE = re.compile(r"[A-Za-z0-9+/\s]{60,}+={0,2}\s*")  # not an address, which may also occur here
_ESCAPED = str.maketrans("", "", "\r\n")


def without_media(value: Any, keep: Keep, depth: int = 0) -> Any:
    """Return JSON unchanged except for encoded media, which `keep` replaces."""
    if isinstance(value, str):
        return text_without_media(value, keep)
    if depth >= MAX_DEPTH:
        return value
    if isinstance(value, list):
        return [without_media(item, keep, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    mime_type = next((value[f] for f in _MIME_FIELDS if isinstance(value.get(f), str)), "")
    is_medium = mime_type.startswith(MEDIA)
    return {
        name: keep(mime_type, item)
        if is_medium and name in _DATA_FIELDS and isinstance(item, str) and _WHOLE.fullmatch(item)
        else without_media(item, keep, depth + 1)
        for name, item in value.items()
    }


def text_without_media(text: str, keep: Keep) -> str:
    """Return the text unchanged except for encoded media; takes time linear in its length."""

    def set_apart(found: re.Match[str]) -> str:
        data = found["data"].replace("\\n", "").replace("\\r", "").replace("\\/", "/")
        data = data.translate(_ESCAPED)
        mime_type = found["type"] or (_type_of(data) if len(data) >= LEAST_CHARS else None)
        return keep(mime_type, data) if mime_type else found[0]

    return _ENCODED.sub(set_apart, text)


def _type_of(data: str) -> str | None:
    """Return the MIME type of a file that begins with `data`; None if it is unknown."""
    try:
        head = b64decode(data[:24], validate=True)
    except ValueError:
        return None
    return type_of_beginning(head)
