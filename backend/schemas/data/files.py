"""The wire contract of uploaded files: what each is, how it was read, and corrections to that."""

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
    """Return the line by which a message names a file attached to it, for people and models."""
    return f"Attached file: {name} (source {source})"


class FileKind(StrEnum):
    """How agents use a file: rows to query, or pages to read."""

    TABLE = "table"
    DOCUMENT = "document"


class IfExists(StrEnum):
    """What an upload does where its owner has a file of its name already.

    `add` keeps both, `refuse` is answered with 409, `replace` takes the file's place.
    """

    ADD = "add"
    REFUSE = "refuse"
    REPLACE = "replace"


class ColumnType(StrEnum):
    """How a column can be read; `date` and `timestamp` take the order seen in its cells."""

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
    """A person's corrections of how a file is read; null: as detected from the file.

    Fields that a change omits keep their earlier correction; a type of null removes one.
    """

    kind: FileKind | None = Field(None, description="For text: a table, or a document.")
    encoding: EncodingName | None = None
    separator: Separator | None = Field(
        None, description="One character; empty: a single column.", examples=[";"]
    )
    quote: Literal['"', "'", ""] | None = Field(
        None, description="What cells are quoted with; empty: quotes are part of the text."
    )
    escape: Literal["\\", ""] | None = Field(
        None, description="A backslash before a quote escapes it; empty: it is part of the text."
    )
    decimal: Literal[",", "."] | None = Field(None, description="The decimal mark.")
    header_row: int | None = Field(
        None, ge=0, le=1_000_000, description="The line of the header; 0: no header."
    )
    sheet: str | None = Field(None, max_length=255, description="Read this sheet only.")
    types: dict[str, ColumnType | None] = Field(
        default={}, max_length=2_000, description="Types by column name."
    )


class SkippedLine(Wire):
    """A line of a file that is not a row of its table."""

    line: int
    text: str


class FileTable(SourceTable):
    """A table of a file, with the detected settings as values beside the sentences.

    `header` holds the lines of its header. `titles` and `below` are the first lines that were left
    out above and below it, and `totals` those in it; `titles_count` and so on say how many.
    """

    columns: list[SourceColumn]
    sheet: str | None = None
    sheets: list[str] = []
    encoding: str | None = None
    separator: str | None = None
    quote: str | None = None
    escape: str | None = None
    decimal: str | None = None
    header: list[int] = []
    titles: list[SkippedLine] = []
    titles_count: int = 0
    below: list[SkippedLine] = []
    below_count: int = 0
    totals: list[SkippedLine] = []
    totals_count: int = 0
    pages: int | None = None


class FileSummary(Wire):
    """A file in a list. `source` is its name in queries; `problem` says why it cannot be read.

    `is_read`: it has been read; if not, it is being read, or will be when it is first requested.
    """

    id: UUID
    name: str = Field(examples=["Umsätze 2026.csv"])
    source: str = Field(examples=["umsätze_2026"])
    session_id: UUID | None = Field(
        description="The session that it belongs to; null: available in all sessions of its owner."
    )
    kind: FileKind
    format: str = Field(examples=["text"])
    size: int
    sha256: str
    created_at: datetime
    replaced_upload_of: datetime | None = Field(
        None, description="When the file was uploaded that this one replaced; null: it is new."
    )
    is_read: bool
    summary: str = Field("", description="How it was read, in one sentence.")
    problem: str | None = None
    tables: int = 0
    rows: int | None = Field(None, description="Rows of all its tables together.")


class FilePage(Wire):
    """One page of files, newest first."""

    items: list[FileSummary]
    next_cursor: str | None


class FileDetails(FileSummary):
    """A file with its tables, how each was read, and its corrections."""

    content: list[FileTable] = []
    corrections: FileCorrections = FileCorrections()


class FilePreview(Wire):
    """How a file would be read with corrections; nothing is stored."""

    summary: str
    content: list[FileTable]
    sample: TableSample | None
