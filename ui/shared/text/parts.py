"""Cuts a long text into parts that a browser lays out one by one. Pure."""

import re

PART_CHARS = 8_000
# A blank line before a line that cannot belong to a list, a quote or a table.
_BREAK = re.compile(r"\n[ \t]*+\n(?=[^\s\-*+\d>|])")


def split_paragraphs(text: str) -> list[str]:
    """Return Markdown in parts of several paragraphs; a short text stays whole.

    It is cut only where the meaning of both sides is unchanged.
    """
    if len(text) <= PART_CHARS:
        return [text]
    parts: list[str] = []
    start = end = 0
    for found in _BREAK.finditer(text):
        if found.start() - start > PART_CHARS and end > start:
            parts.append(text[start:end])
            start = end
        end = found.end()
    if len(text) - start > PART_CHARS and end > start:
        parts.append(text[start:end])
        start = end
    return [part for part in (*parts, text[start:]) if part.strip()]


def split_lines(text: str, size: int) -> list[str]:
    """Return a text in parts of about `size` characters, cut at line ends where possible."""
    parts, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            found = text.rfind("\n", start, end) + 1
            end = found or end
        parts.append(text[start:end])
        start = end
    return parts
