"""Reads a column as the type that a person chose, or reports the cells that do not fit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import duckdb

from backend.data.errors import CorrectionRefused
from backend.data.reading.dates import (
    date_reading,
    find_clock,
    look_at_dates,
    order_of_dates,
)
from backend.data.reading.numbers import look_at_numbers, number_reading
from backend.data.reading.raw import RAW, RawColumn
from backend.data.reading.reading import (
    Reading,
    duration_reading,
    literals,
    missing_value_sql,
    text_reading,
    trimmed,
    with_parts,
)
from backend.data.reading.understood import quote
from backend.data.sql.quoting import identifier

_STYLES = {",": "german", ".": "english"}
# Without accents, in the languages of spreadsheets.
_TRUE_WORDS = """
    true t yes y 1 x ja j wahr oui o vrai si s verdadero vero sim verdadeiro tak prawda waar ano да
"""
_FALSE_WORDS = """
    false f no n 0 nein falsch non faux falso nao nie fałsz nee onwaar nej ne нет
"""
_TRUE, _FALSE = _TRUE_WORDS.split(), _FALSE_WORDS.split()
_WORDS = {
    "integer": "whole numbers",
    "number": "numbers",
    "boolean": "true or false",
    "timestamp": "dates with a time",
}


@dataclass(frozen=True)
class DecimalMarks:
    """The decimal mark that a person gave, and that of the file's other columns; "" if none."""

    given: str = ""
    usual: str = ""


def read_as(
    connection: duckdb.DuckDBPyConnection, column: RawColumn, wanted: str, marks: DecimalMarks
) -> Reading:
    """Return the column of RAW as the given type. Raise CorrectionRefused, which names misfits."""
    reading = _READERS[wanted](connection, column, marks)
    if wanted != "text":
        _check(connection, column, reading, _WORDS.get(wanted, "dates"))
    return reading


def _text(_: duckdb.DuckDBPyConnection, column: RawColumn, __: DecimalMarks) -> Reading:
    return text_reading(column.place, "read as text, as it was corrected")


def _number(
    connection: duckdb.DuckDBPyConnection,
    column: RawColumn,
    marks: DecimalMarks,
    type_: str = "DOUBLE",
) -> Reading:
    if column.has_only_numbers:
        return Reading(type_, f"TRY_CAST({column.place} AS {type_})")
    if column.has_only_durations:
        return duration_reading(column.place, type_)
    forms = look_at_numbers(connection, column)
    style = _STYLES.get(marks.given) or forms.style or "english"
    if style not in _STYLES.values():
        style = _STYLES.get(marks.usual, "")
    if not style:
        raise CorrectionRefused(
            f"{column.name}: its cells do not show whether the decimal mark is a point or a "
            "comma. Choose the decimal mark, too."
        )
    return number_reading(forms, style, type_)


def _integer(
    connection: duckdb.DuckDBPyConnection, column: RawColumn, marks: DecimalMarks
) -> Reading:
    broken = _number(connection, column, marks)
    condition = f"{broken.expression} <> floor({broken.expression})"
    _refuse_where(connection, column, broken, condition, "whole numbers")
    return _number(connection, column, marks, "BIGINT")


def _boolean(_: duckdb.DuckDBPyConnection, column: RawColumn, __: DecimalMarks) -> Reading:
    text = f"strip_accents(lower({trimmed(column.place)}))"
    expression = (
        f"CASE WHEN {text} IN ({literals(_TRUE)}) THEN true "
        f"WHEN {text} IN ({literals(_FALSE)}) THEN false END"
    )
    return Reading("BOOLEAN", expression, "read as true and false, as it was corrected")


def _date(connection: duckdb.DuckDBPyConnection, column: RawColumn, _: DecimalMarks) -> Reading:
    return _by_cells(connection, column, "DATE")


def _timestamp(
    connection: duckdb.DuckDBPyConnection, column: RawColumn, _: DecimalMarks
) -> Reading:
    return _by_cells(connection, column, "TIMESTAMP")


def _by_cells(connection: duckdb.DuckDBPyConnection, column: RawColumn, type_: str) -> Reading:
    forms = look_at_dates(connection, column.place)
    if not forms.fitting:
        raise CorrectionRefused(f"{column.name}: none of its cells is a date.")
    order, doubt = order_of_dates(forms)
    if doubt or order == "time":
        raise CorrectionRefused(f"{column.name}: {doubt or 'its cells are times without a day'}.")
    return date_reading(column.place, order, type_, find_clock(connection, forms, order))


def _in_order(
    order: str,
) -> Callable[[duckdb.DuckDBPyConnection, RawColumn, DecimalMarks], Reading]:
    def read(_: duckdb.DuckDBPyConnection, column: RawColumn, __: DecimalMarks) -> Reading:
        return date_reading(column.place, order, "DATE")

    return read


def _check(
    connection: duckdb.DuckDBPyConnection, column: RawColumn, reading: Reading, what: str
) -> None:
    text = trimmed(column.place)
    condition = f"{text} <> '' AND NOT {missing_value_sql(text)} AND ({reading.expression}) IS NULL"
    if reading.type in ("DATE", "TIMESTAMP"):
        condition += f" AND regexp_matches({text}, '[1-9A-Za-z]')"  # 00.00.0000 means no date
    _refuse_where(connection, column, reading, condition, what)


def _refuse_where(
    connection: duckdb.DuckDBPyConnection,
    column: RawColumn,
    reading: Reading,
    condition: str,
    what: str,
) -> None:
    ((count, lines, texts),) = connection.execute(
        f"SELECT count(*), arg_min(line, line, 3), arg_min({column.place}, line, 3) "  # noqa: S608 - our own names
        f"FROM {with_parts([reading])} WHERE {condition}"
    ).fetchall()
    if count:
        shown = ", ".join(
            f"{quote(text)} (line {line:,})" for line, text in zip(lines, texts, strict=True)
        )
        cells = "1 cell is" if count == 1 else f"{count:,} cells are"
        raise CorrectionRefused(f"{column.name} cannot be {what}: {cells} not, as {shown}.")


def correct_types(
    connection: duckdb.DuckDBPyConnection, name: str, types: Mapping[str, str], decimal: str
) -> None:
    """Convert columns of a table that is typed already. Raise CorrectionRefused."""
    rows = connection.execute(
        "SELECT column_name, numeric_scale IS NOT NULL OR numeric_precision IS NOT NULL "
        "FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index",
        [name],
    ).fetchall()
    names = [str(name) for name, _ in rows]
    kinds = [frozenset({float} if is_number else ()) for _, is_number in rows]
    check_names(types, names)
    table = identifier(name)
    cells = ", ".join(
        f"{identifier(n)} AS o{i}, {identifier(n)}::VARCHAR AS c{i}" for i, n in enumerate(names)
    )
    numbered = f"SELECT row_number() OVER () AS line, {cells} FROM {table}"  # noqa: S608 - names are quoted
    connection.execute(f"CREATE OR REPLACE TABLE {RAW} AS {numbered}")
    readings = {
        i: read_as(connection, RawColumn(f"c{i}", n, kinds[i]), types[n], DecimalMarks(decimal))
        for i, n in enumerate(names)
        if n in types
    }
    columns = ", ".join(
        f"{readings[i].expression if i in readings else f'o{i}'} AS {identifier(n)}"
        for i, n in enumerate(names)
    )
    source = with_parts(readings.values())
    corrected = f"SELECT {columns} FROM {source} ORDER BY line"  # noqa: S608 - names are quoted
    connection.execute(f"CREATE OR REPLACE TABLE {table} AS {corrected}")
    connection.execute(f"DROP TABLE {RAW}")


def check_names(types: Mapping[str, str], names: list[str]) -> None:
    """Raise CorrectionRefused for a column that does not exist."""
    for name in types:
        if name not in names:
            known = ", ".join(names[:40])
            raise CorrectionRefused(f"There is no column {name!r}. The columns are: {known}.")


_READERS: Mapping[str, Callable[[duckdb.DuckDBPyConnection, RawColumn, DecimalMarks], Reading]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _date,
    "date_dmy": _in_order("dmy"),
    "date_mdy": _in_order("mdy"),
    "date_ymd": _in_order("ymd"),
    "timestamp": _timestamp,
}
