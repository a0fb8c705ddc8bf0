"""The wire contract of queries that people run themselves."""

from typing import Any

from pydantic import Field

from backend.schemas.wire import Input, Wire

MAX_SQL_CHARS = 50_000


class OwnQuery(Input):
    """One SELECT over a source, as the tool `query_source` accepts it."""

    source: str = Field(
        min_length=1,
        max_length=200,
        description="The source whose tables need no prefix.",
        examples=["fi"],
    )
    sql: str = Field(
        min_length=1,
        max_length=MAX_SQL_CHARS,
        description="One SELECT, or WITH … SELECT.",
        examples=["SELECT company_code, COUNT(*) AS documents FROM documents GROUP BY 1"],
    )


class LaidOutQuery(Wire):
    """A query laid out for reading; as it was written where that might mean something else."""

    sql: str


class KeptQuery(OwnQuery):
    """A query whose whole result is kept as an artifact of the session."""

    title: str = Field(min_length=1, max_length=200, examples=["Documents by company"])


class TableColumn(Wire):
    """A column's name, and its type as the source names it.

    `format`: how its numbers are written, as a workbook's number format (`0.00%`); empty if it
    is not known, as of most expressions.
    """

    name: str
    type: str
    format: str = ""


class QueryTable(Wire):
    """The result of a query. `complete` is false if a limit of the tool cut it off."""

    title: str
    columns: list[TableColumn]
    rows: list[list[Any]] = Field(description="Cells are texts, numbers, booleans or null.")
    row_count: int
    complete: bool
    notes: list[str] = Field(
        description="What is to be known of the figures: what was skipped or unclear in files, and"
        " the zone of times."
    )
