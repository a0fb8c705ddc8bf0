"""Reads the tables of a web page, which many programs save under the name of a workbook."""

from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import duckdb

from backend.data.corrections import NONE, Corrections
from backend.data.errors import CorrectionRefused, SourceUnusable
from backend.data.files.extent import MOST_CELLS
from backend.data.files.merged import Area, Rows
from backend.data.files.spreadsheets import Sheet, read_sheet
from backend.data.reading.delimited import choose_encoding
from backend.data.reading.encoding import open_text
from backend.data.reading.table import MAX_COLUMNS
from backend.data.reading.understood import Understood

_HEAD = 65_536  # characters
_BLOCK = 1 << 20
_MOST_SPANNED = 1_000_000  # rows
_XML = "urn:schemas-microsoft-com:office:spreadsheet"


def is_web_page(path: Path, encoding: str | None = None) -> bool:
    """Return whether a text is a web page that has a table near its beginning.

    Raise SourceUnusable for the XML of older spreadsheet programs.
    """
    with open_text(path, choose_encoding(path, encoding)) as file:
        head = file.read(_HEAD).lower()
    if _XML in head and "<html" not in head:
        raise SourceUnusable(
            "The file is a workbook in the XML format of Excel 2003. Save it as .xlsx or CSV."
        )
    return head.lstrip("\ufeff \t\r\n").startswith("<") and "<table" in head


def read_web_page(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, corrections: Corrections = NONE
) -> dict[str, Understood]:
    """Create the tables of a web page; return how each was read.

    Raise SourceUnusable, CorrectionRefused, or UnicodeError if a person chose an encoding that the
    text does not have.
    """
    encoding = choose_encoding(path, corrections.encoding)
    parser = _Page()
    with open_text(path, encoding) as file:
        while block := file.read(_BLOCK):
            parser.feed(block)
    found = [table for table in parser.tables if any(map(any, table.rows))]
    if not found:
        raise SourceUnusable("No table of the web page holds a row.")
    if len(found) > 1 and (corrections.header_row is not None or corrections.types):
        raise CorrectionRefused(
            f"A header and types apply to one table only, and the web page has {len(found):,}."
        )
    tables: dict[str, Understood] = {}
    for number, table in enumerate(found, 1):
        understood = Understood([encoding.name, "a web page, of which only tables are read"])
        understood.facts["encoding"] = encoding.name
        if encoding.warning:
            understood.warn(encoding.warning)
        table_name = name if len(found) == 1 else f"table_{number}"
        spool = path.with_suffix(".spool")
        read_sheet(connection, table_name, table.sheet(), spool, understood, corrections)
        tables[table_name] = understood
    return tables


class _Table:
    """The texts of a table's cells; a cell over several rows or columns is in the first of them."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.texts: list[str] | None = None  # of the cell that is open
        self._merged: list[Area] = []
        self._covered: dict[int, int] = {}  # by column: the last row that a cell above reaches
        self._width = self._place = 0

    def begin_row(self) -> None:
        self.end_cell()
        self.rows.append([])

    def begin_cell(self, columns: int, rows: int) -> None:
        """Begin a cell of so many columns and rows, after those that cells above cover."""
        self.end_cell()
        if not self.rows:
            self.begin_row()
        row, place = self.rows[-1], len(self.rows) - 1
        while self._covered.get(len(row), -1) >= place:
            row.append("")
        left, right, bottom = len(row), len(row) + columns - 1, place + rows - 1
        if columns > 1 or rows > 1:
            self._merged.append(((place, left), (bottom, right)))
            self._covered |= dict.fromkeys(range(left, right + 1), bottom)
        row += [""] * columns
        self._width = max(self._width, len(row))
        self.texts = []
        self._place = left

    def end_cell(self) -> None:
        if self.texts is not None:
            self.rows[-1][self._place] = " ".join("".join(self.texts).split())
            self.texts = None

    def sheet(self) -> Sheet:
        """Return the table as that of a workbook: all rows have the same width."""
        return Sheet(self._filled(), 0, self._merged)

    def _filled(self) -> Rows:
        for line, row in enumerate(self.rows, 1):
            if any(row):
                yield line, [*row, *[""] * (self._width - len(row))]


class _Page(HTMLParser):
    """All tables of a page, also those within others."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[_Table] = []
        self._open: list[_Table] = []
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._open.append(_Table())
            self.tables.append(self._open[-1])
        elif tag == "tr" and self._open:
            self._open[-1].begin_row()
        elif tag in ("td", "th") and self._open:
            spans = dict(attrs)
            columns = _span(spans.get("colspan"), MAX_COLUMNS)
            self._count(columns)
            self._open[-1].begin_cell(columns, _span(spans.get("rowspan"), _MOST_SPANNED))
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table") and self._open:
            self._open[-1].end_cell()
        if tag == "table" and self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and (texts := self._open[-1].texts) is not None:
            texts.append(data)

    def _count(self, cells: int) -> None:
        """Raise SourceUnusable for a page that holds too many cells."""
        self._cells += cells
        if self._cells > MOST_CELLS:
            raise SourceUnusable(
                f"The web page holds more than {MOST_CELLS:,} cells, which is the most that can be "
                "read. Save it as CSV."
            )


def _span(text: str | None, most: int) -> int:
    """Return over how many rows or columns a cell reaches."""
    digits = (text or "").strip()
    return max(1, min(int(digits[:9]), most)) if digits.isascii() and digits.isdigit() else 1
