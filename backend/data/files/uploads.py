"""Fills a snapshot from an uploaded file, whose bytes never change: by its format, as corrected.

This happens in a child of the sandbox, because files are not trusted.
"""

import gzip
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from backend.data.corrections import NONE, NUMBER_TYPES, Corrections
from backend.data.errors import CorrectionRefused, SourceUnusable
from backend.data.files.documents import read_document, read_pdf
from backend.data.files.formats import WORKBOOKS, Format, find_format
from backend.data.files.json_tables import read_json
from backend.data.files.parquet_tables import read_parquet
from backend.data.files.readers import READING_VERSION, fill_from_copy
from backend.data.files.spreadsheets import read_workbook
from backend.data.files.statements.reading import find_form, read_statement
from backend.data.files.web_pages import is_web_page, read_web_page
from backend.data.reading.delimited import choose_encoding, read_delimited
from backend.data.reading.detection import detect_dialect
from backend.data.reading.encoding import open_bytes, open_text
from backend.data.reading.laid_out.fixed_width import find_aligned
from backend.data.reading.typed import correct_types
from backend.data.reading.understood import Understood
from backend.text import listed

TABLE, DOCUMENT = "table", "document"
GONE = "The file's content is gone. Delete it here, and upload it again."
_LARGEST_UNPACKED = 1_000_000_000  # bytes of a .gz
_BLOCK = 1 << 20
_SAMPLE_CHARS = 65_536
_HEAD = 4_096  # bytes that show JSON
_SUFFIXES_OF_TABLES = (".csv", ".tsv", ".tab", ".psv")
_SUFFIXES_OF_PAGES = (".html", ".htm")
# XML, and bank statements in MT940 that are no tables; their colons separate no columns.
_NO_TABLE = re.compile(r"<\?xml\s|(?:.*\n){0,4}:20:")


@dataclass(frozen=True)
class Upload:
    """An uploaded file: its id, path, name and format, and its corrections."""

    id: str
    path: Path
    shown: str
    format: Format
    corrections: Corrections = NONE

    @property
    def version(self) -> str:
        """A value that changes with anything that determines its tables."""
        return f"{self.corrections.fingerprint}.{READING_VERSION}"


def fill_upload(snapshot: Path, name: str, upload: Upload) -> None:
    """Write the tables of the file into the new DuckDB file `snapshot`.

    Raise SourceUnusable or CorrectionRefused.
    """
    _check_corrections(upload)
    copy = snapshot.with_name(f"copy{upload.format.suffix}")
    try:
        os.link(upload.path, copy)
    except FileNotFoundError:
        raise SourceUnusable(GONE) from None
    except OSError:
        shutil.copyfile(upload.path, copy)
    fill_from_copy(
        snapshot, copy, upload.shown, lambda connection: _read(connection, name, copy, upload)
    )


def _read(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, upload: Upload
) -> dict[str, Understood]:
    try:
        return _READERS[upload.format](connection, name, path, upload)
    except UnicodeError:
        encoding = upload.corrections.encoding
        if encoding is None:
            raise
        raise CorrectionRefused(
            f"The file is not {encoding}: it contains bytes that this encoding does not have."
        ) from None


def _check_corrections(upload: Upload) -> None:
    """Raise CorrectionRefused for corrections that do not apply to this format."""
    known = _CORRECTABLE[upload.format]
    given = upload.corrections
    for field in _FIELDS:
        if getattr(given, field) is not None and field not in known:
            raise CorrectionRefused(f"The {field.replace('_', ' ')} of such a file is fixed.")
    if given.types and "types" not in known:
        raise CorrectionRefused("A document has no columns.")
    has_numbers = not NUMBER_TYPES.isdisjoint(given.types.values())
    if given.decimal and not has_numbers and upload.format in _TYPED:
        raise CorrectionRefused(
            "The numbers of such a file are numbers already: a decimal mark concerns only text "
            "that is to be read as numbers. Choose such a type for a column, too, or leave it out."
        )


def _check_document(given: Corrections) -> None:
    """Raise CorrectionRefused for corrections that concern tables only."""
    choices = {
        "separator": given.separator is not None,
        "quotes": given.quote is not None or given.escape is not None,
        "decimal mark": given.decimal is not None,
        "header row": given.header_row is not None,
        "types of columns": bool(given.types),
    }
    if wrong := [what for what, is_given in choices.items() if is_given]:
        raise CorrectionRefused(
            f"It is read as a document, which has no {listed(wrong)}. Correct it to be read as a "
            "table, or leave this out."
        )


def _read_text(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, upload: Upload
) -> dict[str, Understood]:
    corrections = upload.corrections
    if path.suffix == ".gz":
        _check_unpacked(path)
        if _is_packed_json(path, corrections):
            return _read_json(connection, name, path, upload)
    if form := _form_of_statement(path, corrections):
        return read_statement(connection, path, form, corrections)
    if _is_page_of_tables(path, upload):
        return read_web_page(connection, name, path, corrections)
    if (corrections.kind or _kind_of_text(path, upload)) == DOCUMENT:
        _refuse_workbook(upload)
        _check_document(corrections)
        return read_document(connection, path, corrections)
    return {name: read_delimited(connection, name, path, corrections)}


def _refuse_workbook(upload: Upload) -> None:
    """Raise SourceUnusable for a text that is named as a workbook."""
    if upload.shown.lower().endswith(WORKBOOKS):
        raise SourceUnusable(
            "The file has the name of a workbook, but it is a text without a table. Save it again "
            "with the program that made it, or give a text the name .txt."
        )


def _form_of_statement(path: Path, given: Corrections) -> str | None:
    """Return the form of a bank statement, unless it is to be read in another way."""
    is_chosen = given.kind != DOCUMENT and not _has_table_form(given)
    return find_form(path) if is_chosen else None


def _has_table_form(given: Corrections) -> bool:
    """Return whether it was corrected how its cells are separated, or where its header is."""
    return given.header_row is not None or any(getattr(given, f) is not None for f in _OF_CELLS)


def _is_page_of_tables(path: Path, upload: Upload) -> bool:
    """Return whether it is a web page, maybe named as a workbook, to be read by its tables."""
    given = upload.corrections
    is_named_so = upload.shown.lower().endswith((*_SUFFIXES_OF_PAGES, *WORKBOOKS))
    is_chosen = given.kind != DOCUMENT and given.separator is None
    return is_named_so and is_chosen and is_web_page(path, given.encoding)


def _kind_of_text(path: Path, upload: Upload) -> str:
    """Return whether the text is a table: by its name, or if its lines split into equal columns."""
    given = upload.corrections
    if _has_table_form(given) or given.types or upload.format is Format.GZIP:
        return TABLE
    if upload.shown.lower().endswith(_SUFFIXES_OF_TABLES):
        return TABLE
    if upload.shown.lower().endswith(_SUFFIXES_OF_PAGES):
        return DOCUMENT
    with open_text(path, choose_encoding(path, given.encoding)) as file:
        sample = file.read(_SAMPLE_CHARS)
    if _NO_TABLE.match(sample.lstrip("\ufeff \t\r\n")):
        return DOCUMENT
    lines = sample.splitlines(keepends=True)
    has_columns = len(lines) > 1 and (detect_dialect(lines).separator or find_aligned(lines))
    return TABLE if has_columns else DOCUMENT


def _is_packed_json(path: Path, given: Corrections) -> bool:
    """Return whether it is JSON, and not to be read in another way that a person chose.

    Raise SourceUnusable if a workbook or the like is packed.
    """
    of_json = Corrections(types=given.types, decimal=given.decimal if given.types else None)
    with open_bytes(path) as file:
        packed = find_format(file.read(_HEAD), "")
    if packed not in (Format.TEXT, Format.JSON):
        raise SourceUnusable(
            "The archive holds neither text nor JSON. Unpack it, and upload what it holds."
        )
    return given == of_json and packed is Format.JSON


def _check_unpacked(path: Path) -> None:
    size = 0
    try:
        with gzip.open(path) as file:
            while block := file.read(_BLOCK):
                size += len(block)
                if size > _LARGEST_UNPACKED:
                    raise SourceUnusable(
                        f"The file unpacks to more than {_LARGEST_UNPACKED / 1e6:,.0f} MB. "
                        "Split it, or save it as Parquet."
                    )
    except (EOFError, gzip.BadGzipFile, OSError):
        raise SourceUnusable(
            "The archive is damaged. Create it again, and upload the new file."
        ) from None


def _read_workbook(
    connection: duckdb.DuckDBPyConnection, _name: str, path: Path, upload: Upload
) -> dict[str, Understood]:
    return read_workbook(connection, path, upload.corrections)


def _read_parquet(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, upload: Upload
) -> dict[str, Understood]:
    return _corrected(connection, name, read_parquet(connection, name, path), upload)


def _read_json(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, upload: Upload
) -> dict[str, Understood]:
    return _corrected(connection, name, read_json(connection, name, path), upload)


def _corrected(
    connection: duckdb.DuckDBPyConnection, name: str, understood: Understood, upload: Upload
) -> dict[str, Understood]:
    types = upload.corrections.types
    if types:
        correct_types(connection, name, types, upload.corrections.decimal or "")
    return {name: understood}


def _read_pdf(
    connection: duckdb.DuckDBPyConnection, _name: str, path: Path, _: Upload
) -> dict[str, Understood]:
    return read_pdf(connection, path)


def _read_document(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, upload: Upload
) -> dict[str, Understood]:
    if upload.corrections.kind == TABLE:
        return {name: read_delimited(connection, name, path, upload.corrections)}
    _check_document(upload.corrections)
    return read_document(connection, path, upload.corrections)


_Reader = Callable[[duckdb.DuckDBPyConnection, str, Path, Upload], dict[str, Understood]]
_READERS: Mapping[Format, _Reader] = {
    Format.TEXT: _read_text,
    Format.GZIP: _read_text,
    Format.WORKBOOK: _read_workbook,
    Format.OLD_WORKBOOK: _read_workbook,
    Format.PARQUET: _read_parquet,
    Format.JSON: _read_json,
    Format.PDF: _read_pdf,
    Format.DOCUMENT: _read_document,
}
_TYPED = (Format.PARQUET, Format.JSON)
_OF_CELLS = ("separator", "quote", "escape")  # how a text separates its cells
_FIELDS = ("kind", "encoding", *_OF_CELLS, "decimal", "header_row", "sheet")
_OF_TEXT = frozenset(("kind", "encoding", *_OF_CELLS, "decimal", "header_row", "types"))
_OF_SHEETS = frozenset(("decimal", "header_row", "sheet", "types"))
_CORRECTABLE: Mapping[Format, frozenset[str]] = {
    Format.TEXT: _OF_TEXT,
    Format.GZIP: _OF_TEXT,
    Format.DOCUMENT: _OF_TEXT,
    Format.WORKBOOK: _OF_SHEETS,
    Format.OLD_WORKBOOK: _OF_SHEETS,
    Format.PARQUET: frozenset(("decimal", "types")),
    Format.JSON: frozenset(("decimal", "types")),
    Format.PDF: frozenset(),
}
