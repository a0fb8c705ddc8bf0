"""Reads a workbook: each sheet that is not empty is a table.

calamine reads the cells, fast and in bounded memory, but returns errors and formulas without a
stored value as empty cells, and hidden rows as others: a scan of the sheets' XML finds them.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import chain, islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

import duckdb
from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from backend.data.corrections import NONE, Corrections
from backend.data.errors import CorrectionRefused, SourceUnusable
from backend.data.files.cell_formats import CellFormats, Watch, read_codes
from backend.data.files.extent import Extent, cell_tag
from backend.data.files.folder import unique_name
from backend.data.files.merged import Area, Corner, Merged, Rows, Value
from backend.data.files.side_by_side import Block, are_tables, find_blocks, in_letters
from backend.data.files.unseen import Unseen
from backend.data.reading.delimited import check_width, find_columns
from backend.data.reading.header import LOOKED_AT
from backend.data.reading.raw import Code
from backend.data.reading.table import Draft, make_table
from backend.data.reading.understood import Understood
from backend.data.reading.written import WrittenColumns
from backend.text import listed

_LARGEST_UNPACKED = 500_000_000  # bytes; ten columns of 100,000 rows are 50 MB
_LARGEST_TEXTS = 100_000_000  # bytes; the texts of all sheets are in memory at once
_MOST_NAMED = 100
_NOT_READ = "The file cannot be read as a workbook: "
_OTHER_CONTENTS = {
    "word/document.xml": "it is a text of a word processor. Save it as PDF.",
    "ppt/presentation.xml": "it is a presentation. Save it as PDF.",
    "xl/workbook.bin": "it is in the binary format .xlsb. Save it as .xlsx or CSV.",
    "content.xml": "it is in the OpenDocument format. Save it as .xlsx, CSV or PDF.",
}
_LOCKED = (
    "The workbook is protected with a password. Remove the password in a spreadsheet program and "
    "upload it again, or save it as CSV."
)
_OLD_PARTS = {
    "EncryptedPackage": _LOCKED,
    "WordDocument": _NOT_READ + _OTHER_CONTENTS["word/document.xml"],
    "PowerPoint Document": _NOT_READ + _OTHER_CONTENTS["ppt/presentation.xml"],
}
_OLD_FORMAT = (
    "errors and formulas without a stored value read as empty, hidden rows and columns as the "
    "others, numbers without their formats: leading zeros, currencies and percent are not seen"
)
_BLOCK = 1 << 22
_TAIL = 1 << 20  # bytes; no honest cell is longer


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet that are not empty, its first column, merged cells and formats.

    `place` names its columns if the sheet holds other tables beside it.
    """

    rows: Rows
    first_column: int
    merged: Sequence[Area]
    formats: CellFormats = field(default_factory=CellFormats)
    place: str = ""


@dataclass(frozen=True)
class _Inside:
    """What the XML of a sheet says that calamine does not report."""

    unseen: Unseen = field(default_factory=Unseen)
    formats: CellFormats = field(default_factory=CellFormats)


def read_workbook(
    connection: duckdb.DuckDBPyConnection, path: Path, corrections: Corrections = NONE
) -> dict[str, Understood]:
    """Create a table of each sheet, or of the one that a person chose; return how each was read.

    Raise SourceUnusable for a workbook that is too large or has a password, or CorrectionRefused.
    """
    is_packed = is_zipfile(path)  # one with a password is not, whatever its name says
    inside = _look_inside(path) if is_packed else {}
    tables: dict[str, Understood] = {}
    with _open_workbook(path) as workbook:
        known = [s.name for s in workbook.sheets_metadata if s.typ == SheetTypeEnum.WorkSheet]
        _check_sheet(known, corrections)
        for number, about in enumerate(workbook.sheets_metadata):
            if about.typ != SheetTypeEnum.WorkSheet:
                continue
            if corrections.sheet not in (None, about.name):
                continue
            understood = Understood([f"sheet {about.name!r}"])
            understood.facts |= {"sheet": about.name, "sheets": known[:_MOST_NAMED]}
            if about.visible != SheetVisibleEnum.Visible:
                understood.warn(f"The sheet {about.name!r} is hidden in the workbook.")
            if not is_packed:
                understood.form.append(_OLD_FORMAT)
            of_sheet = inside.get(about.name, _Inside())
            for sheet in _tables_of(workbook.get_sheet_by_index(number), of_sheet, understood):
                _check_alone(sheet, corrections)
                name = unique_name(about.name, tables)
                spool, own = path.with_suffix(".spool"), deepcopy(understood)
                own.form += [f"columns {sheet.place}"] if sheet.place else []
                if read_sheet(connection, name, sheet, spool, own, corrections):
                    of_sheet.unseen.tell(own)
                    tables[name] = own
    if not tables:
        raise SourceUnusable("No sheet of the workbook holds a row.")
    _tell_hidden(tables)
    return tables


def _open_workbook(path: Path) -> CalamineWorkbook:
    """Return the opened workbook. Raise SourceUnusable if it has a password, or is none."""
    try:
        return CalamineWorkbook.from_path(path)
    except CalamineError as error:
        if said := _LOCKED if isinstance(error, PasswordError) else _told_by_parts(path):
            raise SourceUnusable(said) from None
        raise


def _told_by_parts(path: Path) -> str | None:
    """Return why a file of the older formats, or an encrypted one, is no workbook to read."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        parts = _OLD_PARTS.items()
        return next((why for p, why in parts if content.find(p.encode("utf-16-le")) >= 0), None)


def _check_sheet(known: Sequence[str], corrections: Corrections) -> None:
    shown = ", ".join(known[:_MOST_NAMED])
    if corrections.sheet is not None and corrections.sheet not in known:
        raise CorrectionRefused(f"There is no sheet {corrections.sheet!r}. There are: {shown}.")
    concerns_one = corrections.header_row is not None or corrections.types
    if concerns_one and corrections.sheet is None and len(known) > 1:
        raise CorrectionRefused(
            f"Choose a sheet, too: a header and types apply to one sheet only. There are: {shown}."
        )


def _tell_hidden(tables: dict[str, Understood]) -> None:
    """Report in the first table, too, that others are hidden."""
    hidden = [t.form[0] for t in tables.values() if any("is hidden" in w for w in t.warnings)]
    first = next(iter(tables.values()))
    if hidden and "is hidden" not in " ".join(first.warnings):
        first.form.append(f"hidden in the workbook: {', '.join(hidden)}")


def read_sheet(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    sheet: Sheet,
    spool: Path,
    understood: Understood,
    corrections: Corrections,
) -> bool:
    """Create the table; return whether the sheet contains anything."""
    first = list(islice(sheet.rows, LOOKED_AT))
    if not first:
        return False
    check_width(len(first[0][1]))
    records = [(line, _texts(row)) for line, row in first]
    header = find_columns(records, corrections.header_row)
    above, data = records[: header.first_data_row], first[header.first_data_row :]
    line = data[0][0] if data else first[-1][0] + 1
    merged = Merged(sheet.merged, Corner(line, sheet.first_column))
    kinds: list[set[type]] = [set() for _ in range(header.width)]
    written = WrittenColumns()
    rows = merged.fill(chain(data, sheet.rows))
    rest = _records(rows, kinds, sheet.formats.watching(sheet.first_column, written))
    draft = Draft(header, above, rest, spool=spool, corrections=corrections, written=written)
    left_out = make_table(connection, name, draft, understood, kinds)
    merged.tell(understood, left_out)
    return True


def _tables_of(sheet: CalamineSheet, inside: _Inside, understood: Understood) -> Iterator[Sheet]:
    """Yield what a sheet holds: one table, or several that stand beside each other."""
    _, first_column = sheet.start or (0, 0)
    merged = sheet.merged_cell_ranges or []
    rows = inside.unseen.watched(_filled_rows(sheet), first_column)
    blocks = _blocks_of(sheet)
    if len(blocks) < 2:
        yield Sheet(rows, first_column, merged, inside.formats)
        return
    places = [in_letters(block, first_column) for block in blocks]
    if not are_tables((row for _, row in _filled_rows(sheet)), blocks):
        understood.warn(
            f"Columns {listed(places)} have an empty column between them and are read as one "
            "table. If they are several, put each on a sheet of its own."
        )
        yield Sheet(rows, first_column, merged, inside.formats)
        return
    understood.warn(
        f"The sheet holds {len(blocks)} tables side by side, which are read apart: columns "
        f"{listed(places)}."
    )
    for number, ((left, right), place) in enumerate(zip(blocks, places, strict=True)):
        own = _within(rows if number == 0 else _filled_rows(sheet), left, right)
        areas = [a for a in merged if left <= a[0][1] - first_column <= right]
        yield Sheet(own, first_column + left, areas, inside.formats, place)


def _blocks_of(sheet: CalamineSheet) -> list[Block]:
    """Return the blocks of columns; all rows are looked at if the first ones show several."""
    rows = (row for _, row in _filled_rows(sheet))
    blocks = find_blocks(islice(rows, LOOKED_AT))
    return find_blocks(row for _, row in _filled_rows(sheet)) if len(blocks) > 1 else blocks


def _within(rows: Rows, left: int, right: int) -> Rows:
    for line, row in rows:
        part = row[left : right + 1]
        if any(value != "" for value in part):
            yield line, part


def _check_alone(sheet: Sheet, corrections: Corrections) -> None:
    if sheet.place and (corrections.header_row is not None or corrections.types):
        raise CorrectionRefused(
            "A header and types apply to one table only, and the sheet holds several side by "
            "side. Put each on a sheet of its own."
        )


def _filled_rows(sheet: CalamineSheet) -> Rows:
    """Yield the sheet's rows that are not empty; its cells stay in memory until the last one."""
    for line, row in enumerate(sheet.iter_rows(), 1):  # from the first line, even if it is empty
        if any(value != "" for value in row):
            yield line, row


def _records(
    rows: Rows, kinds: list[set[type]], codes_of: Watch
) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        _note_kinds(row, kinds)
        texts = _texts(row)
        for place, code in codes_of(line, row):
            if place < len(kinds):
                texts[place] = code
                kinds[place].add(Code)
        yield line, texts


def _note_kinds(row: Sequence[Value], kinds: list[set[type]]) -> None:
    for value, known in zip(row, kinds, strict=False):  # further cells of the row are empty
        if value != "":
            known.add(_kind(value))


def _kind(value: Value) -> type:
    """Return the cell's type: a workbook does not distinguish integers and dates by itself."""
    if type(value) is float and value.is_integer() and abs(value) < 1e15:
        return int
    if type(value) is datetime and not (
        value.hour or value.minute or value.second or value.microsecond
    ):
        return date
    return type(value)


def _texts(row: Sequence[Value]) -> list[str]:
    return [value if type(value) is str else _text(value) for value in row]


def _text(value: Value) -> str:
    if type(value) is float:
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is datetime:
        is_day = _kind(value) is date
        return value.date().isoformat() if is_day else value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return _hours(value) if isinstance(value, timedelta) else str(value)


def _hours(value: timedelta) -> str:
    """Return a duration as 120:00:05; Python writes 5 days, 0:00:05."""
    sign, size = ("-", -value) if value < timedelta(0) else ("", value)
    hours, rest = divmod(size, timedelta(hours=1))
    return f"{sign}{hours}{str(rest)[1:]}"


def _look_inside(path: Path) -> dict[str, _Inside]:
    """Scan the XML of each sheet. Raise SourceUnusable if the workbook is too large.

    The sizes that the archive declares are binding: no more than that is read.
    """
    try:
        with ZipFile(path) as archive:
            sizes = {part.filename: part.file_size for part in archive.infolist()}
            for part in _OTHER_CONTENTS.keys() & sizes:
                raise SourceUnusable(_NOT_READ + _OTHER_CONTENTS[part])
            _check_sizes(sizes)
            places, codes = _sheet_places(archive), read_codes(archive)
            return {
                name: _look(archive, place, CellFormats(codes))
                for name, place in places.items()
                if place in sizes
            }
    except (BadZipFile, ElementTree.ParseError, KeyError):
        raise SourceUnusable(
            "The file cannot be read as a workbook: it is damaged, or an archive of other files. "
            "Save a workbook again, or as CSV; unpack an archive, and upload its files."
        ) from None


def _check_sizes(sizes: dict[str, int]) -> None:
    unpacked = sum(sizes.values())
    if unpacked > _LARGEST_UNPACKED:
        raise SourceUnusable(
            f"The workbook unpacks to {unpacked / 1e6:,.0f} MB; at most "
            f"{_LARGEST_UNPACKED / 1e6:,.0f} MB can be read. Save it as CSV or Parquet."
        )
    if sizes.get("xl/sharedStrings.xml", 0) > _LARGEST_TEXTS:
        raise SourceUnusable(
            f"The workbook's texts are more than {_LARGEST_TEXTS / 1e6:,.0f} MB. "
            "Save it as CSV or Parquet."
        )


def _sheet_places(archive: ZipFile) -> dict[str, str]:
    """Return the path of each sheet's XML in the archive, by sheet name."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))  # noqa: S314 - in the sandbox
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    places = {}
    for sheet in book.findall(".//{*}sheet"):
        key = next((value for name, value in sheet.items() if name.endswith("}id")), "")
        target = targets.get(key, "")
        places[sheet.get("name", "")] = target[1:] if target.startswith("/") else f"xl/{target}"
    return places


def _look(archive: ZipFile, place: str, formats: CellFormats) -> _Inside:
    unseen, extent = Unseen(), Extent()
    with archive.open(place) as part:
        rest = b""
        while block := part.read(_BLOCK):
            block = rest + block
            cut = _end_of_whole_cells(block)
            rest = block[cut:][-_BLOCK:]
            extent.add(block[:cut])
            unseen.add(block[:cut])
            formats.add(block[:cut])
        extent.add(rest)
        unseen.add(rest)
        formats.add(rest)
    return _Inside(unseen, formats)


def _end_of_whole_cells(block: bytes) -> int:
    """Return where the last cell begins, or else the last tag: it may go on in the next block."""
    starts = [found.start() for found in cell_tag.finditer(block, max(0, len(block) - _TAIL))]
    cut = starts[-1] if starts else block.rfind(b"<")
    return cut if cut > 0 else len(block)
