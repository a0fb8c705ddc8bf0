"""Makes a typed table from records: header, raw cells, column types, and lines below."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import duckdb

from backend.data.corrections import NONE, Corrections
from backend.data.reading.columns import read_columns
from backend.data.reading.header import Header, column_names
from backend.data.reading.left_out.remarks import (
    leave_out_remarks,
    leave_out_repeated_header,
    tell_gap,
    tell_second_table,
)
from backend.data.reading.left_out.totals import leave_out_totals
from backend.data.reading.outline import fill_outline
from backend.data.reading.raw import (
    RAW,
    RawColumn,
    Record,
    RegularFile,
    delete_rows,
    load_raw,
    load_regular,
)
from backend.data.reading.reading import Reading, with_parts
from backend.data.reading.typed import DecimalMarks, check_names, read_as
from backend.data.reading.understood import MOST_LINES, Occurrences, Understood, quote
from backend.data.reading.written import WrittenColumns
from backend.data.sql.quoting import identifier
from backend.data.zones import LOCAL_ZONES

MAX_COLUMNS = 2_000
SURPLUS = "surplus_cells"
_AT_ONCE = 20  # columns per query
_WRAPPED = '="((?:[^"]|"")*)"'
_WIDE = 100  # with more columns, memory is enough for one thread only


@dataclass(frozen=True)
class Draft:
    """A table before its columns are decided."""

    header: Header
    records: Sequence[Record]  # the first ones, including header and titles
    rest: Iterator[Record]
    separator: str = ""  # of a text file
    regular: RegularFile | None = None  # if the engine may read the records itself
    usual: int = 0  # how many cells most records of a text file have
    spool: Path | None = None  # where records are kept until all are read, if they use memory
    corrections: Corrections = NONE
    written: WrittenColumns = field(default_factory=WrittenColumns)  # of a workbook


def make_table(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    draft: Draft,
    understood: Understood,
    kinds: Sequence[set[type]] | None = None,
) -> set[int]:
    """Create the table, report how it was read, and return the lines left out below the header.

    `kinds` are known once all is read.
    """
    header = draft.header
    width = header.width
    _tell_header(draft, understood)
    usual = _load(connection, draft)
    _unwrap_texts(connection, draft, understood)
    mixed = draft.written.mark_currencies(connection)
    names = column_names(header.cells)
    columns = [
        RawColumn(f"c{place}", name, frozenset(_kinds_of(place, kinds, mixed)))
        for place, name in enumerate(names)
    ]
    remarks = leave_out_remarks(connection, width, understood)
    leave_out_repeated_header(connection, header, understood)
    tell_second_table(connection, width, understood)
    if kinds is None:  # of a sheet, it is known before
        tell_gap(connection, header, understood)
    readings = _read(connection, columns, draft)
    totals = leave_out_totals(connection, width, readings, understood)
    if totals:
        readings = _read(connection, columns, draft)
    fill_outline(connection, names, understood)
    readings = _corrected(connection, columns, readings, draft.corrections)
    readings = [draft.written.applied_to(*pair) for pair in enumerate(readings)]
    has_surplus = _tell_ragged(connection, usual, width, understood)
    _create(connection, name, names, readings, has_surplus=has_surplus)
    _tell_columns(names, readings, understood)
    return remarks | totals


def _kinds_of(
    place: int, kinds: Sequence[set[type]] | None, mixed: Collection[int]
) -> Iterable[type]:
    return {str} if place in mixed else kinds[place] if kinds else ()


def _read(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[RawColumn], draft: Draft
) -> list[Reading]:
    """Return what the columns hold; the decimal mark does not matter where a type is given."""
    types, decimal = draft.corrections.types, draft.corrections.decimal or ""
    if not types or not decimal:
        return read_columns(connection, columns, draft.separator, decimal)
    corrected = [column for column in columns if column.name in types]
    others = [column for column in columns if column.name not in types]
    by_place = dict(
        zip(
            [column.place for column in (*corrected, *others)],
            [
                *read_columns(connection, corrected, draft.separator),
                *read_columns(connection, others, draft.separator, decimal),
            ],
            strict=True,
        )
    )
    return [by_place[column.place] for column in columns]


def _corrected(
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[RawColumn],
    readings: Sequence[Reading],
    corrections: Corrections,
) -> list[Reading]:
    """Return the readings, with the given types where a person has chosen them."""
    types = corrections.types
    if not types:
        return list(readings)
    check_names(types, [column.name for column in columns])
    marks = DecimalMarks(corrections.decimal or "", _usual_decimal(readings))
    return [
        read_as(connection, column, types[column.name], marks) if column.name in types else reading
        for column, reading in zip(columns, readings, strict=True)
    ]


def _usual_decimal(readings: Iterable[Reading]) -> str:
    signs = Counter(reading.decimal for reading in readings if reading.decimal)
    return signs.most_common(1)[0][0] if signs else ""


def _load(connection: duckdb.DuckDBPyConnection, draft: Draft) -> int:
    """Fill RAW with the records that are not empty; return how many cells they should have."""
    width, usual = draft.header.width, draft.usual or draft.header.width
    if width > _WIDE:
        connection.execute("SET threads = 1")
    first = draft.records[draft.header.first_data_row :]
    regular = draft.regular
    if regular and load_regular(connection, regular, width):
        usual = width
    else:
        load_raw(connection, chain(first, draft.rest), width, draft.spool, draft.usual)
    empty = [f"c{place} IS NULL" for place in range(width)]
    delete_rows(connection, " AND ".join([*empty, "surplus IS NULL"]))
    return usual


def _unwrap_texts(
    connection: duckdb.DuckDBPyConnection, draft: Draft, understood: Understood
) -> None:
    """Replace ="00123" by 00123 and report it: a text that a spreadsheet program leaves alone."""
    rows = [row for _, row in draft.records[draft.header.first_data_row :]]
    seen = {place for row in rows for place, cell in enumerate(row) if cell.startswith('="')}
    for place in sorted(seen & set(range(draft.header.width))):
        text = f"regexp_extract(c{place}, '{_WRAPPED}', 1)"
        connection.execute(
            f"UPDATE {RAW} SET c{place} = replace(nullif({text}, ''), '\"\"', '\"') "  # noqa: S608 - our own names
            f"WHERE regexp_full_match(c{place}, '{_WRAPPED}')"
        )
    if seen:
        understood.form.append('="text" is read as text')


def _tell_header(draft: Draft, understood: Understood) -> None:
    header, records = draft.header, draft.records
    titles = Occurrences()
    for place in header.titles:
        titles.add(records[place][0], " | ".join(cell for cell in records[place][1] if cell))
    if titles.count:
        lines = "line of titles" if titles.count == 1 else "lines of titles"
        understood.form.append(f"{titles.count:,} {lines} above ({titles.shown()})")
    understood.facts["titles"] = titles.listed()
    understood.facts["titles_count"] = titles.count
    understood.facts["header"] = [records[place][0] for place in header.rows]
    places = [f"{records[place][0]:,}" for place in header.rows]
    if not places:
        understood.form.append("no header")
        understood.warn("There is no header: the columns are named by their numbers.")
    elif len(places) == 2:
        understood.form.append(f"header in lines {' and '.join(places)}, joined")
    else:
        understood.form.append(f"header in line {places[0]}")
        _tell_names(draft, records[header.rows[0]][1], understood)


def _tell_names(draft: Draft, names: Sequence[str], understood: Understood) -> None:
    """Report a header of a text file that has more names, or fewer cells, than most rows."""
    cells, usual = draft.header.cells, draft.usual
    count = len(names) if len(names) < usual else len("\0".join(names).rstrip("\0 ").split("\0"))
    if not usual or count == usual or (usual < count and not cells[usual:]):
        return
    if count > usual:
        which = f"{', '.join(map(quote, cells[usual:]))} has no cells"
    else:
        empty = "first" if draft.header.cells[0] == "" else "last"
        which = f"the {empty} column has no name"
    understood.warn(
        f"The header has {count:,} cells, most rows have {usual:,}: {which}, unless the "
        "names stand over the wrong columns."
    )


def _tell_ragged(
    connection: duckdb.DuckDBPyConnection, usual: int, width: int, understood: Understood
) -> bool:
    """Report records with too few or too many cells; return whether some are left over."""
    others = "the header" if usual == width else "most rows"
    for condition, what in (
        (f"cells < {usual}", f"fewer cells than {others}; those that are missing are NULL"),
        (
            f"cells > {usual} OR surplus IS NOT NULL",
            f"more cells than {others}; the rest is in {SURPLUS}",
        ),
    ):
        count, lines = connection.execute(
            f"SELECT count(*), arg_min(line, line, {MOST_LINES}) FROM {RAW} WHERE {condition}"  # noqa: S608 - our own names
        ).fetchall()[0]
        if count:
            rows = "1 row has" if count == 1 else f"{count:,} rows have"
            shown = ", ".join(f"{line:,}" for line in lines)
            more = ", …" if count > len(lines) else ""
            understood.warn(f"{rows} {what} (line {shown}{more}).")
    ((count,),) = connection.execute(f"SELECT count(surplus) FROM {RAW}").fetchall()  # noqa: S608 - our own names
    return bool(count)


def _create(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    names: Sequence[str],
    readings: Sequence[Reading],
    *,
    has_surplus: bool,
) -> None:
    """Create the table; a wide one in parts, because each expression needs memory."""
    named = [*zip(names, readings, strict=True)]
    if has_surplus:
        named.append((column_names([*names, SURPLUS])[-1], Reading("VARCHAR", "surplus")))
    groups = [named[start : start + _AT_ONCE] for start in range(0, len(named), _AT_ONCE)]
    parts = [f"scratch.part{number}" for number in range(len(groups))]
    if len(groups) == 1:
        parts = [identifier(name)]
    for part, group in zip(parts, groups, strict=True):
        columns = ", ".join(f"{reading.expression} AS {identifier(n)}" for n, reading in group)
        source = with_parts(reading for _, reading in group)
        connection.execute(f"CREATE TABLE {part} AS SELECT {columns} FROM {source}")  # noqa: S608 - names are quoted
    connection.execute(f"DROP TABLE {RAW}")
    if len(groups) > 1:
        source = " POSITIONAL JOIN ".join(parts)
        connection.execute(f"CREATE TABLE {identifier(name)} AS SELECT * FROM {source}")  # noqa: S608 - our own names
        for part in parts:
            connection.execute(f"DROP TABLE {part}")


def _tell_columns(
    names: Iterable[str], readings: Sequence[Reading], understood: Understood
) -> None:
    if decimal := _usual_decimal(readings):
        understood.facts["decimal"] = decimal
    for name, reading in zip(names, readings, strict=True):
        if reading.note:
            understood.columns[name] = reading.note
        if reading.format:
            understood.formats[name] = reading.format
        if reading.zone:
            understood.facts.setdefault(LOCAL_ZONES, {})[name] = reading.zone
        for warning in reading.warnings:
            understood.warn(f"{name}: {warning}.")
