"""A session as Markdown, row by row."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from backend.export.history import History
from backend.export.parts import SHOWN_ROWS, Part, count_words, speaker_of
from backend.export.reader import Reader
from backend.markdown.cells import rewrite_markdown
from backend.tabular.cells import cell_writers, is_number
from backend.tabular.columns import kinds_of

_FENCES = re.compile(r"`{3,}")


def write_markdown(history: History) -> Iterator[str]:
    """Yield the document in pieces."""
    session, reader = history.session, history.reader
    yield f"# {_line(session.title or 'Conversation')}\n\n"
    yield f"*{_line(session.domain)}, {reader.moment(session.created_at)}*\n"
    before = ""
    for row in history.rows():
        speaker = speaker_of(row)
        if speaker != before:
            yield f"\n## {_line(speaker)} ({reader.moment(row.created_at)})\n"
            before = speaker
        yield f"\n{_write(history.part(row), history)}\n"


def _write(part: Part, history: History) -> str:
    if part.kind == "markdown":
        return rewrite_markdown(part.text, history.href)
    if part.kind == "table" and part.table is not None:
        return _table(part.label, part.table, history.reader)
    if part.kind == "image":
        return f"*Image: {_line(part.text)}*"
    if part.kind in ("aside", "problem"):
        label = f"*{part.label}:* " if part.label else ""
        return _quoted(f"{label}{part.text}")
    label = f"**{_line(part.label)}**\n\n" if part.label else ""
    return f"{label}{_fenced(part.text, part.language)}"


def _table(label: str, table: Mapping[str, Any], reader: Reader) -> str:
    columns, rows = table["columns"], table.get("rows", [])[:SHOWN_ROWS]
    kinds = kinds_of(columns)
    head = _cells(str(column.get("name", "")) for column in columns)
    rule = _cells("---:" if is_number(kind) else "---" for kind in kinds)
    writers = cell_writers(columns, reader.locale)
    lines = [_cells(write(cell) for write, cell in zip(writers, row, strict=False)) for row in rows]
    text = "\n".join((head, rule, *lines))
    drawn = "; the HTML export draws its chart" if table.get("chart") else ""
    notes = "".join(f"\n\n> {_line(str(note))}" for note in table.get("notes") or [])
    return f"**{_line(label)}** ({count_words(table, len(rows), reader)}{drawn})\n\n{text}{notes}"


def _cells(cells: Any) -> str:
    return f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _fenced(text: str, language: str) -> str:
    """Return text in a fence that is longer than any in it."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _line(text: str) -> str:
    return " ".join(filter(None, map(str.strip, text.splitlines())))
