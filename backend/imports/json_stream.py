"""Reading JSON of an upload: item by item, each of a bounded length, also from damaged files."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from backend.imports.deep_json import parse_deep
from backend.imports.errors import ImportRefused
from backend.imports.upload import Upload

LONGEST_ITEM = 32 << 20  # characters of one conversation's JSON
_PIECE = 1 << 18
_MARK = re.compile(r'["\\\[\]{}]')
_BETWEEN = " \t\r\n,"


class TooLong:
    """In place of an item that is longer than LONGEST_ITEM; `head` is its beginning."""

    reason = f"It is longer than {LONGEST_ITEM >> 20} million characters, the limit."

    def __init__(self, head: str) -> None:
        self.head = head


class Unreadable:
    """In place of an item that is no JSON."""

    reason = "It is no valid JSON."

    def __init__(self, head: str) -> None:
        self.head = head


Broken = TooLong | Unreadable


def read_json(upload: Upload, name: str) -> Any:
    """Return the JSON of a small entry, such as a manifest. Raise ImportRefused, KeyError."""
    with upload.open(name) as file:
        text = file.read(LONGEST_ITEM + 1)
    if len(text) > LONGEST_ITEM:
        raise ImportRefused(f"{name[:200]} is longer than {LONGEST_ITEM >> 20} MiB.")
    try:
        return json.loads(text.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{name[:200]} is no valid JSON.") from error


def parse(text: str | bytes) -> Any:
    """Return the JSON of a text; an Unreadable in place of what is none."""
    try:
        try:
            return json.loads(text)
        except RecursionError:  # a conversation whose answers are inside of their questions
            return parse_deep(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        head = text[:200]
        return Unreadable(head if isinstance(head, str) else head.decode("utf-8", "replace"))


def items(upload: Upload, name: str) -> Iterator[Any]:
    """Yield the items of the array that an entry holds; of an object, that object alone.

    An item that is too long or no JSON is replaced by a Broken, and the next one is read.
    Raise ImportRefused if the entry holds neither; KeyError if there is no such entry.
    """
    with upload.open(name) as file:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        pieces = (
            decoder.decode(piece, final=not piece) for piece in iter(lambda: file.read(_PIECE), b"")
        )
        yield from _items(pieces, name)


def _items(pieces: Iterator[str], name: str) -> Iterator[Any]:
    text = ""
    while not text and (piece := next(pieces, None)) is not None:
        text = piece.lstrip()
    if text[:1] not in ("[", "{"):
        raise ImportRefused(f"{name[:200]} holds no JSON.")
    if text[0] == "[":
        text = text[1:]
        is_array = True
    else:
        is_array = False
    while True:
        text = text.lstrip(_BETWEEN)
        if not text:
            if (piece := next(pieces, None)) is None:
                if is_array:
                    yield Unreadable("The file ends before its array does.")
                return
            text = piece
            continue
        if text[0] == "]" and is_array:
            return
        item, text = _take(text, pieces)
        yield item
        if not is_array:
            return


def _take(text: str, pieces: Iterator[str]) -> tuple[Any, str]:
    """Return the item at the beginning of `text`, and the text after it."""
    if text[0] not in "[{":
        return _take_bare(text, pieces)
    parts: list[str] = []
    length, depth, is_string = 0, 0, False
    position = 0
    while True:
        end, depth, is_string, position = _scan(text, position, depth, is_string)
        kept = text if end is None else text[:end]
        length += len(kept)
        if length <= LONGEST_ITEM or not parts:
            parts.append(kept)
        else:
            del parts[1:]
        if end is not None:
            break
        position -= len(text)  # 1 if the last character escapes the first of the next piece
        piece = next(pieces, None)
        if piece is None:
            return Unreadable(parts[0][:200]), ""
        text = piece
    if length > LONGEST_ITEM:
        return TooLong(parts[0][:200]), text[end:]
    return parse("".join(parts)), text[end:]


def _scan(
    text: str, position: int, depth: int, is_string: bool
) -> tuple[int | None, int, bool, int]:
    """Follow brackets and strings; return where the item ends, None: not in this text."""
    while (mark := _MARK.search(text, position)) is not None:
        position = mark.end()
        found = mark[0]
        if found == '"':
            is_string = not is_string
        elif is_string:
            position += found == "\\"
        elif found in "[{":
            depth += 1
        elif found in "]}":
            depth -= 1
            if depth == 0:
                return position, depth, is_string, position
    return None, depth, is_string, max(position, len(text))


def _take_bare(text: str, pieces: Iterator[str]) -> tuple[Any, str]:
    """Return what is neither an object nor an array: no conversation."""
    while (end := re.search(r"[,\]]", text)) is None:
        piece = next(pieces, None)
        if piece is None:
            return Unreadable(text[:200]), ""
        text = text[:200] + piece
    return Unreadable(text[: min(200, end.start())]), text[end.start() :]
