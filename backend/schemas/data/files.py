"""The wire contract of uploaded files: what each is, how it was read, how that is corrected."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from backend.schemas.data.sources import SourceColumn, SourceTable, TableSample
from backend.schemas.wire import Input, Wire

LONGEST_FILE_NAME = 255
ATTACHED_LINE = re.compile(
    r"^Attached file: (?P<name>.*) \(source (?P<source>\S+)\)$", re.MULTILINE
)


def attached_line(name: str, source: str) -> str:
    """Return how a message names a file that came with it: for its reader and its model alike."""
    return f"Attached file: {name} (source {source})"


class FileKind(StrEnum):
    """What a file is to agents: rows to query, or pages to read."""

    TABLE = "table"
    DOCUMENT = "document"


class ColumnType(StrEnum):
    """What a column can be read as; `date` and `timestamp` in the order that its cells show."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATE_DMY = "date_dmy"
    DATE_MDY = "date_mdy"
    DATE_YMD = "date_ymd"
    TIMESTAMP = "timestamp"


EncodingName = Literal[
    "UTF-8", "UTF-16", "UTF-16-LE", "UTF-16-BE", "UTF-32", "Windows-1252", "Windows-1250",
    "Windows-1251", "Windows-1253", "Windows-1254", "ISO-8859-1", "ISO-8859-2", "ISO-8859-15",
    "Mac Roman", "DOS 437", "DOS 850", "Shift JIS", "GB 18030", "Big5", "Korean (949)",
]  # fmt: skip
Separator = Annotated[str, StringConstraints(max_length=1, pattern=r'^[^"\r\n\x00]?$')]


class FileCorrections(Input):
    """What a person says of how a file is to be read; null: as the file itself shows.

    What a change leaves out stays as it was corrected before; a type of null takes one back.
    """

    kind: FileKind | None = Field(None, description="Of a text: a table, or a document.")
    encoding: EncodingName | None = None
    separator: Separator | None = Field(
        None, description="One character; empty: one column.", examples=[";"]
    )
    decimal: Literal[",", "."] | None = Field(None, description="What begins the decimals.")
    header_row: int | None = Field(
        None, ge=0, le=1_000_000, description="The line of the header; 0: there is none."
    )
    sheet: str | None = Field(None, max_length=255, description="The only sheet to be read.")
    types: dict[str, ColumnType | None] = Field(
        default={}, max_length=2_000, description="By the names of columns."
    )


class SkippedLine(Wire):
    """A line of a file that is no row of its table."""

    line: int
    text: str


class FileTable(SourceTable):
    """A table of a file, with what was understood of it as values beside the sentences.

    `header` are the lines of its header. `titles` and `below` are the first lines that were left
    out above and below it, `titles_count` and `below_count` how many there are.
    """

    columns: list[SourceColumn]
    sheet: str | None = None
    sheets: list[str] = []
    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: list[int] = []
    titles: list[SkippedLine] = []
    titles_count: int = 0
    below: list[SkippedLine] = []
    below_count: int = 0
    total_line: int | None = None
    pages: int | None = None


class FileSummary(Wire):
    """A file in a list. `source` is its name in queries; `problem`: why it cannot be read, if so.

    `is_read`: it was read; else it is, or will be when somebody asks for it.
    """

    id: UUID
    name: str = Field(examples=["Umsätze 2026.csv"])
    source: str = Field(examples=["umsätze_2026"])
    session_id: UUID | None = Field(
        description="The session that it belongs to; null: all sessions of its owner."
    )
    kind: FileKind
    format: str = Field(examples=["text"])
    size: int
    sha256: str
    created_at: datetime
    is_read: bool
    summary: str = Field("", description="How it was read, in a sentence.")
    problem: str | None = None
    tables: int = 0
    rows: int | None = Field(None, description="Of all of its tables together.")


class FilePage(Wire):
    """One page of files, the latest first."""

    items: list[FileSummary]
    next_cursor: str | None


class FileDetails(FileSummary):
    """A file with its tables, what was understood of each, and what was corrected."""

    content: list[FileTable] = []
    corrections: FileCorrections = FileCorrections()


class FilePreview(Wire):
    """How a file would be read with corrections; nothing is changed."""

    summary: str
    content: list[FileTable]
    sample: TableSample | None
