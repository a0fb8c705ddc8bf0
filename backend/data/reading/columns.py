"""Decides what each column holds, by the raw text of all its cells.

One pass over every column counts the plain cases; only columns whose first values look like
numbers or dates are examined closely.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import islice

import duckdb

from backend.data.errors import CorrectionRefused
from backend.data.reading.cells import NULL, Kind, kind_of
from backend.data.reading.dates import look_at_dates, read_dates
from backend.data.reading.numbers import NumberForms, decimals_of, look_at_numbers, read_numbers
from backend.data.reading.raw import RAW, Code, RawColumn
from backend.data.reading.reading import Reading, duration_reading, is_error_sql, text_reading
from backend.data.reading.understood import quote
from backend.tabular.number_formats import NumberFormat

_AT_ONCE = 10  # columns per query: each pattern needs memory, in every thread
_SAMPLE = 300  # distinct values
_INTEGER = "-?(0|[1-9][0-9]{0,14})"
_DECIMAL = r"-?(0|[1-9][0-9]{0,14})?\.[0-9]{1,14}"
_SAID = {",": "german", ".": "english"}
_SIGNS = {"german": "comma", "english": "point"}
_OTHER_SIGN = "{}: its cells have a decimal {}. Correct the type of this column to text first."
_THREE_DIGITS = r"-?[1-9][0-9]{0,2}\.[0-9]{3}"


@dataclass(frozen=True)
class _Plain:
    """How many cells of a column have each of the plainest forms."""

    filled: int
    integers: int
    decimals: int
    unclear: int  # ambiguous decimals: 1.234
    days: int


def read_columns(
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[RawColumn],
    separator: str,
    decimal: str = "",
) -> list[Reading]:
    """Return what each column of RAW holds; `decimal` is the decimal mark if a person gave it.

    Raise CorrectionRefused if the cells have the other one.
    """
    readings: dict[str, Reading] = {}
    unclear: dict[str, NumberForms] = {}
    for column, plain in _looks(connection, columns):
        place = column.place
        reading = _by_kinds(column) or _plainly(place, plain)
        if decimal == "," and reading and reading.decimal == "." and not column.kinds:
            raise CorrectionRefused(_OTHER_SIGN.format(column.name, "point"))
        if reading is None:
            usual = _usual_kind(connection, place)
            if usual in (Kind.NUMBER, Kind.CODE):
                unclear[place] = look_at_numbers(connection, column)
                continue
            reading = _otherwise(connection, place, usual)
        readings[place] = reading
    plain_ones = [place for place, reading in readings.items() if reading.decimal == "."]
    for place, code in _formats(connection, plain_ones):
        readings[place] = replace(readings[place], format=code)
    styles = Counter(forms.style for forms in unclear.values())
    usual_style = _SAID.get(decimal) or _usual_style(styles, readings)
    for place, forms in unclear.items():
        if decimal and forms.style in _SIGNS and forms.style != usual_style:
            name = next(column.name for column in columns if column.place == place)
            raise CorrectionRefused(_OTHER_SIGN.format(name, _SIGNS[forms.style]))
        found = read_numbers(forms, usual_style, separator)
        readings[place] = found or text_reading(place)
    texts = [place for place, reading in readings.items() if reading.type == "VARCHAR"]
    for place, note in _errors(connection, texts):
        readings[place] = readings[place].with_note(note)
    return [readings[column.place] for column in columns]


def _formats(
    connection: duckdb.DuckDBPyConnection, places: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the formats of columns of plain decimals; whole floats, as 2026.0, have none."""
    rest = iter(places)
    while some := list(islice(rest, _AT_ONCE)):
        tails = ", ".join(
            f"list(DISTINCT length(split_part({place}, '.', 2))), "
            f"bool_and(NOT contains({place}, '.') OR ends_with({place}, '.0'))"
            for place in some
        )
        (row,) = connection.execute(f"SELECT {tails} FROM {RAW}").fetchall()  # noqa: S608 - our own names
        for place, seen, are_whole in zip(some, row[::2], row[1::2], strict=True):
            decimals = decimals_of([one for one in seen if one is not None])
            if decimals and not are_whole:
                yield place, NumberFormat(decimals, is_grouped=True).code


def _errors(
    connection: duckdb.DuckDBPyConnection, places: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the columns of text that hold a spreadsheet's errors or a database's NULL, in words."""
    rest = iter(places)
    suspected: list[str] = []
    while some := list(islice(rest, _AT_ONCE)):
        marked = ", ".join(f"bool_or({place}[1] IN ('#', '{NULL[0]}'))" for place in some)
        (row,) = connection.execute(f"SELECT {marked} FROM {RAW}").fetchall()  # noqa: S608 - our own names
        suspected += [place for place, is_marked in zip(some, row, strict=True) if is_marked]
    for place in suspected:
        rows = connection.execute(
            f"SELECT {place} = ?, count(*), arg_min(line, line, 3), arg_min({place}, line, 3) "  # noqa: S608
            f"FROM {RAW} WHERE {place}[1] IN ('#', '{NULL[0]}') AND {is_error_sql(place)} "
            "GROUP BY 1 ORDER BY 1",
            [NULL],
        ).fetchall()
        for is_null, count, lines, texts in rows:
            what = "a database's NULL" if is_null else "a spreadsheet's error, kept as text"
            cells = "1 cell is" if count == 1 else f"{count:,} cells are"
            pairs = zip(lines, texts, strict=True)
            shown = ", ".join(f"{quote(text)} (line {line:,})" for line, text in pairs)
            yield place, f"{cells} {what}: {shown}"


def _looks(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[RawColumn]
) -> list[tuple[RawColumn, _Plain]]:
    looks: list[tuple[RawColumn, _Plain]] = []
    rest = iter(columns)
    while some := list(islice(rest, _AT_ONCE)):
        counts = ", ".join(_counts(column.place) for column in some)
        (row,) = connection.execute(f"SELECT {counts} FROM {RAW}").fetchall()  # noqa: S608 - our own names
        looks += [(c, _Plain(*row[5 * n : 5 * n + 5])) for n, c in enumerate(some)]
    return looks


def _counts(place: str) -> str:
    """Return the SQL of the counts in `_Plain`."""
    patterns = [
        f"regexp_full_match({place}, '{pattern}')"
        for pattern in (_INTEGER, _DECIMAL, _THREE_DIGITS)
    ]
    day = f"{place} LIKE '____-__-__' AND TRY_CAST({place} AS DATE) IS NOT NULL"
    counts = [f"count(*) FILTER ({condition})" for condition in (*patterns, day)]
    return ", ".join([f"count({place})", *counts])


def _plainly(place: str, plain: _Plain) -> Reading | None:
    """Return the column if every cell has the same plain form."""
    if not plain.filled:
        return text_reading(place, "all empty")
    if plain.integers == plain.filled:
        return Reading("BIGINT", f"CAST({place} AS BIGINT)")
    if plain.integers + plain.decimals == plain.filled and plain.unclear < plain.decimals:
        return Reading("DOUBLE", f"CAST({place} AS DOUBLE)", decimal=".")
    if plain.days == plain.filled:
        return Reading("DATE", f"CAST({place} AS DATE)", "dates written as yyyy-mm-dd")
    return None


def _by_kinds(column: RawColumn) -> Reading | None:
    """Return a workbook's column if all its cells have the same type."""
    kinds, place = column.kinds, column.place
    if column.has_only_durations:
        return duration_reading(place)
    if Code in kinds:
        return text_reading(place, "codes, as their format writes them: kept as text")
    if not kinds or kinds - {bool, int, float, date, datetime}:
        return None
    if kinds == {bool}:
        return Reading("BOOLEAN", f"CAST({place} AS BOOLEAN)")
    if kinds == {int}:
        return Reading("BIGINT", f"CAST({place} AS BIGINT)")
    if kinds <= {int, float}:
        return Reading("DOUBLE", f"CAST({place} AS DOUBLE)")
    if kinds == {date}:
        return Reading("DATE", f"CAST({place} AS DATE)")
    return (
        Reading("TIMESTAMP", f"CAST({place} AS TIMESTAMP)") if kinds <= {date, datetime} else None
    )


def _usual_kind(connection: duckdb.DuckDBPyConnection, place: str) -> Kind:
    """Return the most frequent kind of the first distinct values; text if there are many kinds."""
    rows = connection.execute(
        f"SELECT DISTINCT {place} FROM {RAW} WHERE {place} IS NOT NULL LIMIT {_SAMPLE}"  # noqa: S608 - our own names
    ).fetchall()
    kinds = Counter(kind_of(value) for (value,) in rows)
    kinds.pop(Kind.MISSING, None)
    kinds.pop(Kind.EMPTY, None)
    numbers = kinds[Kind.NUMBER] + kinds[Kind.CODE]
    if not kinds or 2 * max(numbers, kinds[Kind.DATE], kinds[Kind.BOOLEAN]) < kinds.total():
        return Kind.TEXT
    if numbers >= max(kinds[Kind.DATE], kinds[Kind.BOOLEAN]):
        return Kind.NUMBER
    return kinds.most_common(1)[0][0]


def _otherwise(connection: duckdb.DuckDBPyConnection, place: str, usual: Kind) -> Reading:
    if usual == Kind.DATE:
        found = read_dates(connection, look_at_dates(connection, place))
        return found or text_reading(place)
    if usual == Kind.BOOLEAN:
        return _booleans(connection, place)
    return text_reading(place)


def _booleans(connection: duckdb.DuckDBPyConnection, place: str) -> Reading:
    rows = connection.execute(
        f"SELECT DISTINCT lower(trim({place})) FROM {RAW} WHERE {place} IS NOT NULL LIMIT 50"  # noqa: S608 - our own names
    ).fetchall()
    values = {value for (value,) in rows}
    if all(kind_of(value) in (Kind.BOOLEAN, Kind.MISSING) for value in values):
        return Reading("BOOLEAN", f"TRY_CAST(trim({place}) AS BOOLEAN)")
    return text_reading(place, "stays text: not only true and false")


def _usual_style(styles: Counter[str], readings: dict[str, Reading]) -> str:
    """Return how the file's unambiguous columns write numbers; empty if they disagree."""
    german = styles["german"]
    english = styles["english"] + sum(r.type == "DOUBLE" for r in readings.values())
    if bool(german) == bool(english):
        return ""
    return "german" if german else "english"
