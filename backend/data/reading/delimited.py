"""Reads a text table: its encoding, its dialect, where it begins, and all its records."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TextIO

import duckdb

from backend.data.corrections import ENCODINGS, NONE, Corrections
from backend.data.errors import CorrectionRefused, SourceUnusable
from backend.data.reading.detection import detect_dialect, dialect_of, usual_width
from backend.data.reading.dialect import NO_QUOTE, Dialect
from backend.data.reading.encoding import Encoding, count_lines, detect_encoding, open_text
from backend.data.reading.header import LOOKED_AT, Header, find_header, header_at
from backend.data.reading.laid_out.borders import Borders, remove_borders
from backend.data.reading.laid_out.fixed_width import find_aligned, separate_columns
from backend.data.reading.laid_out.rewriting import BAR
from backend.data.reading.laid_out.space_runs import are_space_runs, separate_runs
from backend.data.reading.raw import Record, RegularFile
from backend.data.reading.records import Records, Slips, bounded_lines
from backend.data.reading.splitting import Splitter
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
    understood = Understood()
    encoding = choose_encoding(path, corrections.encoding)
    understood.form.append(encoding.name)
    understood.facts["encoding"] = encoding.name
    if encoding.warning:
        understood.warn(encoding.warning)
    separated = _separated(path, encoding, corrections, understood)
    return _read(connection, name, separated, corrections, understood)


@dataclass(frozen=True)
class _Separated:
    """A text whose cells are separated; `skipped`: the lines at its start that only say by what.

    `width` is that of most of its records, 0 if they all have that of the header.
    """

    path: Path
    encoding: Encoding
    dialect: Dialect
    skipped: int = 0
    width: int = 0


def _separated(
    path: Path, encoding: Encoding, given: Corrections, understood: Understood
) -> _Separated:
    """Return the text, written anew if it is a drawn list, or aligned in columns."""
    is_open = given.separator in (None, BAR) and given.quote is None and given.escape is None
    with open_text(path, encoding) as file:
        lines = _sample(file)
    borders = Borders(lines)
    if is_open and borders.exist:
        separated = remove_borders(path, encoding, borders, understood)
        understood.form.append("separated by bars")
        understood.facts["separator"] = BAR
        return _Separated(*separated, Dialect(BAR))
    columns = find_aligned(lines) if is_open and given.separator is None else []
    if is_open and given.separator is None and are_space_runs(lines, columns):
        understood.form.append("separated by one or more spaces")
        understood.facts["separator"] = " "
        return _Separated(*separate_runs(path, encoding), Dialect(BAR))
    if columns:
        understood.form.append("columns of fixed width")
        understood.facts["is_aligned"] = True
        return _Separated(*separate_columns(path, encoding, columns), Dialect(BAR))
    dialect, skipped = _dialect(lines, given, understood)
    width = usual_width(lines[skipped:], dialect)
    return _Separated(*_as_utf8(path, encoding), dialect, skipped, width)


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
        lines = islice(bounded_lines(file), separated.skipped, None)
        records = Records(lines, Splitter(dialect), dialect, separated.width)
        records.number = separated.skipped
        rest = iter(records)
        first = list(islice(rest, LOOKED_AT))
        header = find_columns(first, corrections.header_row)
        check_width(header.width)
        if not header.width or not first:
            raise SourceUnusable("The file holds no row.")
        regular = _regular(path, encoding, dialect, first[header.first_data_row :])
        draft = Draft(
            header,
            first,
            rest,
            dialect.separator,
            regular,
            usual=separated.width,
            corrections=corrections,
        )
        make_table(connection, name, draft, understood)
    _tell_slips(records.slips, understood)
    return understood


def check_width(columns: int) -> None:
    """Raise SourceUnusable for a table too wide to be listed, profiled and queried."""
    if columns > MAX_COLUMNS:
        raise SourceUnusable(
            f"It has {columns:,} columns; at most {MAX_COLUMNS:,} can be read. "
            "Turn the columns into rows, or leave some out."
        )


def _dialect(
    lines: Sequence[str], given: Corrections, understood: Understood
) -> tuple[Dialect, int]:
    """Return the dialect, and how many lines at the start only declare it.

    Raise CorrectionRefused.
    """
    if not any(line.strip() for line in lines):
        raise SourceUnusable("The file holds no row.")
    declared = _SAID.match(lines[0])
    sample = lines[1:] if declared else lines
    found = detect_dialect(sample)
    separator, why = found.separator, ""
    if given.separator is not None:
        separator, why = given.separator, ", as it was corrected"
    elif declared:
        separator, why = declared[1], ", as its first line says"
    quote = found.quote if given.quote is None else given.quote or NO_QUOTE
    dialect = dialect_of(sample, separator, quote)
    if given.escape is not None:
        dialect = replace(dialect, escape=given.escape)
    if given.separator and not any(given.separator in line for line in lines):
        raise CorrectionRefused(f"The first lines of the file hold no {dialect.name}.")
    what = f"separated by {dialect.name}" if separator else "one column, no separator"
    understood.form.append(what + why)
    _tell_quotes(dialect, given, understood)
    return dialect, int(declared is not None)


def _tell_quotes(dialect: Dialect, given: Corrections, understood: Understood) -> None:
    """Report how cells are quoted, unless as usual and not corrected."""
    quote = "" if dialect.quote == NO_QUOTE else dialect.quote
    understood.facts |= {"separator": dialect.separator, "quote": quote, "escape": dialect.escape}
    if given.quote is not None:
        what = f"quotes are {quote}" if quote else "quotes are part of the text"
        understood.form.append(f"{what}, as it was corrected")
    elif quote != '"':
        understood.form.append(f"quotes are {quote}")
    if given.escape is not None or dialect.escape:
        what = "a backslash before a quote " + ("escapes it" if dialect.escape else "is text")
        understood.form.append(what + (", as it was corrected" if given.escape is not None else ""))


def _sample(file: TextIO) -> list[str]:
    """Return the first lines, without the last one if it is incomplete."""
    text = file.read(_SAMPLE_CHARS)
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)
    return lines[:-1] if len(text) == _SAMPLE_CHARS and len(lines) > 1 else lines


def _regular(
    path: Path, encoding: Encoding, dialect: Dialect, first: Sequence[Record]
) -> RegularFile | None:
    """Return the file for the engine's own reader, if it is regular enough for that.

    `first` are the first records of data.
    """
    is_plain = encoding.codec in _UTF8 and not encoding.warning
    has_lines = any("\n" in cell for _, row in first for cell in row)
    is_usual = dialect.quote != NO_QUOTE and not dialect.escape and not dialect.skips_space
    if not first or not is_plain or not dialect.separator or not is_usual or has_lines:
        return None
    line = first[0][0]
    lines = count_lines(path, line, dialect.separator, dialect.quote)
    return RegularFile(path, dialect.separator, dialect.quote, line, lines) if lines else None


def _tell_slips(slips: Slips, understood: Understood) -> None:
    """Report lines that were not read as they stand."""
    for seen, what, done in (
        (slips.damaged, "quotes out of place", "read so that the cells fit, if they can"),
        (slips.otherwise, "another separator or escape than most", "read by that"),
        (slips.thousands, "a number that its comma cuts in two", "read as one number"),
        (slips.joined, "a quoted text of several lines like rows", "read as one row"),
    ):
        if seen.count:
            lines = "1 line has" if seen.count == 1 else f"{seen.count:,} lines have"
            understood.warn(f"{lines} {what}, {done}: {seen.shown()}.")
    if slips.zeros:
        understood.warn(f"{slips.zeros:,} zero characters were left out.")
