"""Finds the tables in an answer, and reads their cells as values where that is sure. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it.token import Token

from backend.markdown.dialect import LONGEST_MARKDOWN, reader, words_of
from backend.markdown.numbers import read_columns

MAX_ROWS = 5_000

Table = dict[str, Any]


def find_tables(text: str) -> list[Table]:
    """Return the tables that Markdown shows, each in the form of `metadata.table`.

    `doubts` names the columns that stay text because their numbers can be read in two ways.
    """
    if "|" not in text or len(text) > LONGEST_MARKDOWN:
        return []
    return [_table(rows, text) for rows in _tables(reader().parse(text))]


def _tables(tokens: Sequence[Token]) -> Iterator[list[list[str]]]:
    """Yield the rows of each table, the header's first, as visible text."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(words_of(token.children).strip())
        elif token.type == "table_close":
            yield rows[: MAX_ROWS + 1]
            rows = []


def _table(rows: Sequence[Sequence[str]], text: str) -> Table:
    names, body = rows[0], rows[1:]
    columns = read_columns([[row[n] for row in body] for n in range(len(names))], text)
    return {
        "title": "",
        "columns": [
            {"name": name, "type": column.type}
            | ({"format": column.format} if column.format else {})
            for name, column in zip(names, columns, strict=True)
        ],
        "rows": [list(row) for row in zip(*(column.values for column in columns), strict=True)],
        "row_count": len(body),
        "doubts": [
            f"{name} is text: {column.doubt} can be read as two numbers"
            for name, column in zip(names, columns, strict=True)
            if column.doubt
        ],
    }
