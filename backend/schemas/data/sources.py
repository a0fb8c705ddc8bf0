"""The wire contract of sources: what agents can query, and how each was read."""

from typing import Any, Literal

from pydantic import Field

from backend.schemas.wire import Wire


class SourceSummary(Wire):
    """A source in a list. `problem` says why it cannot be read."""

    name: str = Field(examples=["fi"])
    kind: Literal["finance", "database", "file"]
    description: str
    tables: int
    warnings: int = Field(description="How many things were skipped or unclear.")
    problem: str | None = None
    size: int | None = Field(None, description="Size of a file in bytes.")


class SourceList(Wire):
    """All sources of this installation. `left_out`: how many files exceed the limit."""

    items: list[SourceSummary]
    left_out: int = 0


class SourceColumn(Wire):
    """A column of a table: its type as the source names it, and its meaning if known.

    `format`: how its numbers are written, as a workbook's number format; empty if unknown.
    """

    name: str
    type: str
    format: str = ""
    meaning: str = ""


class SourceTable(Wire):
    """A table, named as in queries; `rows` is null if counting them would cost too much.

    For a file, `understood` says how it was read (encoding, separator, header, formats), and
    `warnings` what was skipped, did not fit or is ambiguous, with examples.
    """

    name: str
    rows: int | None
    meaning: str = ""
    columns: list[SourceColumn]
    understood: list[str] = []
    warnings: list[str] = []


class TableSample(Wire):
    """The first rows of a table. `complete`: these are all of them."""

    table: str
    columns: list[SourceColumn]
    rows: list[list[Any]]
    complete: bool


class SourceDetails(Wire):
    """One source with a page of its tables. `next_offset`: the offset of the next page."""

    name: str
    kind: Literal["finance", "database", "file"]
    description: str
    note: str = ""
    table_count: int
    tables: list[SourceTable]
    next_offset: int | None
