"""Tables as an Excel workbook: one sheet each, in which text is never run as a formula."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import IO, Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

from backend.tabular.columns import Kind, format_of, kinds_of
from backend.tabular.csv_text import is_like_formula

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_CELL_CHARS = 32_767  # Excel's own limits
MAX_NAME_CHARS = 31
MAX_WIDTH = 40
_FIRST_DAY = date(1900, 1, 1)
_CUT = "… (cut: Excel's cells hold no more)"
_NOT_IN_XML = re.compile(rf"{ILLEGAL_CHARACTERS_RE.pattern}|[\ud800-\udfff\ufffe\uffff]")
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f\ud800-\udfff\ufffe\uffff]+")
_DAYS = "yyyy-mm-dd"
_HEADING = Font(bold=True)

Table = dict[str, Any]


def workbook_of(table: Table) -> bytes:
    """Return one table as a workbook."""
    file = io.BytesIO()
    write_workbook([(str(table.get("title") or "Table"), table)], file)
    return file.getvalue()


def write_workbook(tables: Iterable[tuple[str, Table]], file: IO[bytes]) -> None:
    """Write a sheet for each table, row by row, under names that Excel accepts."""
    book = Workbook(write_only=True)
    taken: set[str] = set()
    for title, table in tables:
        _write_sheet(book.create_sheet(_sheet_name(title, taken)), table)
    if not taken:
        book.create_sheet("Empty")
    book.save(file)


def _write_sheet(sheet: Any, table: Table) -> None:
    names = [str(column.get("name", "")) for column in table["columns"]]
    kinds = kinds_of(table["columns"])
    codes = [_code(column, kind) for column, kind in zip(table["columns"], kinds, strict=True)]
    looks = list(zip(kinds, codes, strict=True))
    sheet.freeze_panes = "A2"
    for place, width in enumerate(_widths(names, table["rows"][:100]), 1):
        sheet.column_dimensions[get_column_letter(place)].width = width
    sheet.append([_cell(sheet, name, Kind.TEXT, is_heading=True) for name in names])
    for row in table["rows"]:
        sheet.append([_cell(sheet, value, *look) for value, look in zip(row, looks, strict=False)])


def _code(column: Table, kind: Kind) -> str:
    """Return the workbook's format of a column; empty for none of its own."""
    written = format_of(column)
    return written.code if written else _DAYS if kind is Kind.DATE else ""


def _cell(sheet: Any, value: Any, kind: Kind, code: str = "", *, is_heading: bool = False) -> Any:
    """Return a cell; text is marked as such, because openpyxl reads `=1+1` as a formula."""
    if value is None:
        return None
    if kind is Kind.DATE and (day := _day(value)):
        value = day
    is_text = not isinstance(value, bool | int | float | date)
    cell = WriteOnlyCell(sheet, _text(value) if is_text else value)
    if is_text:
        cell.data_type = "s"
        if is_like_formula(cell.value):
            cell.quotePrefix = True
    elif code and not isinstance(value, bool):
        cell.number_format = code
    if is_heading:
        cell.font = _HEADING
    return cell


def _text(value: Any) -> str:
    text = _NOT_IN_XML.sub("\ufffd", str(value))
    return text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - len(_CUT)] + _CUT


def _day(value: Any) -> date | None:
    """Return a day that Excel has; earlier ones would be negative numbers."""
    try:
        day = date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        return None
    return day if day and day >= _FIRST_DAY else None


def _widths(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[int]:
    for place, name in enumerate(names):
        longest = max((len(str(r[place])) for r in rows if place < len(r)), default=0)
        yield min(max(len(name), longest) + 2, MAX_WIDTH)


def _sheet_name(title: str, taken: set[str]) -> str:
    """Return an unused sheet name; Excel compares them ignoring case."""
    plain = _NOT_IN_NAMES.sub(" ", title).strip(" '")[:MAX_NAME_CHARS].strip(" '") or "Table"
    name, number = plain, 1
    while name.lower() in taken or name.lower() == "history":
        number += 1
        name = f"{plain[: MAX_NAME_CHARS - len(str(number)) - 1]} {number}"
    taken.add(name.lower())
    return name
