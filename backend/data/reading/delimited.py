"""Reads a text table: its encoding, its dialect, where it begins, and all its records."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import duckdb

from backend.data.corrections import ENCODINGS, NONE, Corrections
from backend.data.errors import CorrectionRefused, SourceUnusable
from backend.data.reading.dialect import Dialect, allow_long_cells, detect_dialect
from backend.data.reading.encoding import Encoding, count_lines, detect_encoding, open_text
from backend.data.reading.header import LOOKED_AT, Header, find_header, header_at
from backend.data.reading.laid_out.borders import Borders, remove_borders
from backend.data.reading.laid_out.fixed_width import find_aligned, separate_columns
from backend.data.reading.laid_out.rewriting import BAR
from backend.data.reading.raw import Record, RegularFile
from backend.data.reading.records import Records
from backend.data.reading.table import MAX_COLUMNS, Draft, make_table
from backend.data.reading.understood import Understood

_UTF8 = ("utf-8", "utf-8-sig")
_LARGE_BYTES = 5_000_000
_BLOCK_CHARS = 1 << 20
_SAMPLE_CHARS = 262_144
_SAID = re.compile(r'^\ufeff?"?sep=(.)"?\s*$', re.IGNORECASE)


def read_delimited(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, corrections: Corrections = NONE
) -> Understood:
    """Create a table of the text file; return how it was read.

    Raise SourceUnusable, CorrectionRefused, or UnicodeError if a person chose an encoding that the
    text does not have.
    """
    allow_long_cells()
    understood = Understood()
    encoding = choose_encoding(path, corrections.encoding)
    understood.form.append(encoding.name)
    understood.facts["encoding"] = encoding.name
    if encoding.warning:
        understood.warn(encoding.warning)
    separated = _separated(path, encoding, corrections.separator, understood)
    return _read(connection, name, separated, corrections, understood)


@dataclass(frozen=True)
class _Separated:
    """A text whose cells are separated; `skipped`: the lines at its start that only say by what."""

    path: Path
    encoding: Encoding
    dialect: Dialect
    skipped: int = 0


def _separated(
    path: Path, encoding: Encoding, wanted: str | None, understood: Understood
) -> _Separated:
    """Return the text, written anew if it is a drawn list, or aligned in columns."""
    with open_text(path, encoding) as file:
        lines = _sample(file)
    borders = Borders(lines)
    if borders.exist and wanted in (None, BAR):
        separated = remove_borders(path, encoding, borders, understood)
        understood.form.append("separated by bars")
        understood.facts["separator"] = BAR
        return _Separated(*separated, Dialect(BAR))
    if wanted is None and (columns := find_aligned(lines)):
        understood.form.append("columns of fixed width")
        understood.facts["is_aligned"] = True
        return _Separated(*separate_columns(path, encoding, columns), Dialect(BAR))
    dialect, skipped = _dialect(lines, understood, wanted)
    understood.facts["separator"] = dialect.separator
    return _Separated(*_as_utf8(path, encoding), dialect, skipped)


def _as_utf8(path: Path, encoding: Encoding) -> tuple[Path, Encoding]:
    """Return a large file converted to UTF-8 for the engine's own reader, or the file itself."""
    if path.stat().st_size < _LARGE_BYTES or (encoding.codec in _UTF8 and not encoding.warning):
        return path, encoding
    rewritten = path.with_name("utf8.csv")
    with (
        open_text(path, encoding) as file,
        open(rewritten, "w", encoding="utf-8", errors="replace", newline="") as out,
    ):
        shutil.copyfileobj(file, out, _BLOCK_CHARS)
    return rewritten, Encoding("utf-8", encoding.name)


def choose_encoding(path: Path, name: str | None) -> Encoding:
    """Return the encoding that a person chose, applied strictly, or else the detected one."""
    return Encoding(ENCODINGS[name], name) if name else detect_encoding(path)


def find_columns(rows: Sequence[Record], line: int | None) -> Header:
    """Return the header, at the given line if there is one. Raise CorrectionRefused."""
    cells = [row for _, row in rows]
    if line is None:
        return find_header(cells)
    if line == 0:
        return header_at(cells, None)
    place = next((n for n, (number, _) in enumerate(rows) if number == line), None)
    if place is None:
        last = rows[-1][0] if rows else 0
        raise CorrectionRefused(
            f"Line {line:,} cannot be the header: it is empty, or not among the first "
            f"{len(rows):,} rows (up to line {last:,})."
        )
    return header_at(cells, place)


def _read(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    separated: _Separated,
    corrections: Corrections,
    understood: Understood,
) -> Understood:
    path, encoding, dialect = separated.path, separated.encoding, separated.dialect
    with open_text(path, encoding) as file:
        records = Records(file, dialect, separated.skipped)
        rest = iter(records)
        first = list(islice(rest, LOOKED_AT))
        header = find_columns(first, corrections.header_row)
        check_width(header.width)
        if not header.width or not first:
            raise SourceUnusable("The file holds no row.")
        records.expected = header.width
        regular = _regular(path, encoding, dialect, first)
        draft = Draft(header, first, rest, dialect.separator, regular, corrections=corrections)
        make_table(connection, name, draft, understood)
    _tell_slips(records, understood)
    return understood


def check_width(columns: int) -> None:
    """Raise SourceUnusable for a table too wide to be listed, profiled and queried."""
    if columns > MAX_COLUMNS:
        raise SourceUnusable(
            f"It has {columns:,} columns; at most {MAX_COLUMNS:,} can be read. "
            "Turn the columns into rows, or leave some out."
        )


def _dialect(
    lines: Sequence[str], understood: Understood, wanted: str | None
) -> tuple[Dialect, int]:
    """Return the dialect, and how many lines at the start only declare it."""
    if not any(line.strip() for line in lines):
        raise SourceUnusable("The file holds no row.")
    declared = _SAID.match(lines[0])
    if wanted is not None:
        return _wanted_dialect(lines, wanted, understood), int(declared is not None)
    if declared:
        found = detect_dialect(lines[1:])
        dialect = Dialect(declared[1], found.quote, found.escape, found.skips_space)
        understood.form.append(f"separated by {dialect.name}, as its first line says")
        return dialect, 1
    dialect = detect_dialect(lines)
    if dialect.separator:
        understood.form.append(f"separated by {dialect.name}")
    else:
        understood.form.append("one column, no separator")
    if dialect.quote != '"':
        understood.form.append(f"quotes are {dialect.quote}")
    return dialect, 0


def _wanted_dialect(lines: Sequence[str], wanted: str, understood: Understood) -> Dialect:
    """Return the dialect with the separator that a person chose. Raise CorrectionRefused."""
    found = detect_dialect(lines)
    dialect = Dialect(wanted, found.quote, found.escape, found.skips_space)
    if wanted and not any(wanted in line for line in lines):
        raise CorrectionRefused(f"The first lines of the file hold no {dialect.name}.")
    what = f"separated by {dialect.name}" if wanted else "one column, no separator"
    understood.form.append(f"{what}, as it was corrected")
    return dialect


def _sample(file: TextIO) -> list[str]:
    """Return the first lines, without the last one if it is incomplete."""
    text = file.read(_SAMPLE_CHARS)
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)
    return lines[:-1] if len(text) == _SAMPLE_CHARS and len(lines) > 1 else lines


def _regular(
    path: Path, encoding: Encoding, dialect: Dialect, first: Sequence[Record]
) -> RegularFile | None:
    """Return the file for the engine's own reader, if it is regular enough for that."""
    is_plain = encoding.codec in _UTF8 and not encoding.warning
    has_lines = any("\n" in cell for _, row in first for cell in row)
    if not is_plain or not dialect.separator or dialect.escape or dialect.skips_space or has_lines:
        return None
    lines = count_lines(path)
    return RegularFile(path, dialect.separator, dialect.quote, lines) if lines else None


def _tell_slips(records: Records, understood: Understood) -> None:
    if records.unclosed.count:
        understood.warn(
            f"{records.unclosed.count:,} lines have a quote that nothing closes; they were read "
            f"as they are written: {records.unclosed.shown()}."
        )
    if records.zeros:
        understood.warn(f"{records.zeros:,} zero characters were left out.")
