"""The wire contract of sources: what agents can query, and how it was understood."""

from typing import Any, Literal

from pydantic import Field

from backend.schemas.wire import Wire


class SourceSummary(Wire):
    """A source in a list. `problem`: why it cannot be read, if so."""

    name: str = Field(examples=["fi"])
    kind: Literal["finance", "database", "file"]
    description: str
    tables: int
    warnings: int = Field(description="How often something was skipped or not understood.")
    problem: str | None = None
    size: int | None = Field(None, description="Bytes of a file.")


class SourceList(Wire):
    """All sources of this installation. `left_out`: files beyond the most that are looked at."""

    items: list[SourceSummary]
    left_out: int = 0


class SourceColumn(Wire):
    """A column of a table: its type in the source's words, its meaning where that is known."""

    name: str
    type: str
    meaning: str = ""


class SourceTable(Wire):
    """A table as queries name it; `rows` is null where counting would cost too much.

    Of a file, `understood` says how it was read (encoding, separator, header, formats), and
    `warnings` what was skipped, did not fit or may be meant otherwise, with examples.
    """

    name: str
    rows: int | None
    meaning: str = ""
    columns: list[SourceColumn]
    understood: list[str] = []
    warnings: list[str] = []


class TableSample(Wire):
    """The first rows of a table. `complete`: these are all."""

    table: str
    columns: list[SourceColumn]
    rows: list[list[Any]]
    complete: bool


class SourceDetails(Wire):
    """One source with a page of its tables. `next_offset`: where the next page begins."""

    name: str
    kind: Literal["finance", "database", "file"]
    description: str
    note: str = ""
    table_count: int
    tables: list[SourceTable]
    next_offset: int | None
