"""A kind of mess: a file, and what a person would expect of it."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import openpyxl

D = date.fromisoformat
T = datetime.fromisoformat
NULL = None


@dataclass(frozen=True)
class Mess:
    """A kind of mess: the file, its columns as 'name TYPE', its rows, and what must be said."""

    kind: str
    content: bytes
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    said: Sequence[str] = ()
    suffix: str = ".csv"

    @property
    def file_name(self) -> str:
        """The kind as a file's name."""
        return self.kind.replace(" ", "_").replace("/", "_") + self.suffix


def text(
    kind: str, content: str, columns: str, rows: Sequence[Sequence[Any]], *said: str,
    encoding: str = "utf-8", suffix: str = ".csv",
) -> Mess:  # fmt: skip
    """A text file with this content."""
    names = [column.strip() for column in columns.split(",")]
    return Mess(kind, content.encode(encoding), names, rows, said, suffix)


def column(kind: str, cells: Sequence[str], type_: str, values: Sequence[Any], *said: str) -> Mess:
    """A file with a label and one column of such cells."""
    lines = "".join(f"r{n};{cell}\n" for n, cell in enumerate(cells))
    rows = [[f"r{n}", value] for n, value in enumerate(values)]
    return text(kind, f"id;x\n{lines}", f"id VARCHAR, x {type_}", rows, *said)


def workbook(
    kind: str, fill: Callable[[openpyxl.Workbook], None], columns: str,
    rows: Sequence[Sequence[Any]], *said: str,
) -> Mess:  # fmt: skip
    """A workbook; the table that is compared is that of its first sheet."""
    book = openpyxl.Workbook()
    fill(book)
    file = io.BytesIO()
    book.save(file)
    names = [name.strip() for name in columns.split(",")]
    return Mess(kind, file.getvalue(), names, rows, said, ".xlsx")


def sheet(*rows: Sequence[Any]) -> Callable[[openpyxl.Workbook], None]:
    """What fills a workbook with one sheet of these rows."""

    def fill(book: openpyxl.Workbook) -> None:
        for row in rows:
            book.active.append(row)

    return fill
