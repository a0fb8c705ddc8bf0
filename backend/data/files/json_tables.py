"""Fills a table from a JSON file; what would be rounded or guessed stays text.

This happens in a child of the sandbox, because files are not trusted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
from duckdb.sqltypes import DuckDBPyType

from backend.data.errors import SourceUnusable
from backend.data.reading.delimited import check_width
from backend.data.reading.encoding import as_utf_8, open_bytes
from backend.data.reading.offsets import local_zone, minutes_sql
from backend.data.reading.understood import Understood, quote
from backend.data.sql.quoting import identifier, literal
from backend.data.zones import INSTANT, LOCAL_ZONES
from backend.text import listed

_LARGEST_OBJECT = 16_000_000  # bytes of one JSON value
_HEAD = 4_096  # bytes, of which the first that is no space shows what the file holds
_DEEPEST = 2  # keys to a list
_NO_TABLE = (
    "The file is not JSON with a table: an array of objects, one object per line, or one object "
    "that holds such an array, each object of 16 MB at most."
)
_OTHER_ENCODING = "The file's text is neither UTF-8 nor UTF-16. Save it as UTF-8."
_ESCAPE = "A text in the file has an invalid escape, such as half of a surrogate pair. Correct it."
_REASONS = {  # by what is in the engine's message
    "Duplicate name": "In an object within another, names differ only in case. Rename them.",
    "has duplicate key": "An object in the file has the same key twice. Rename one of them.",
    "surrogate in string": _ESCAPE,
    "invalid escaped": _ESCAPE,
    "invalid UTF-8": _OTHER_ENCODING,
}
_REFUSALS = (duckdb.InvalidInputException, duckdb.BinderException, duckdb.NotImplementedException)
_TOO_LARGE = "it has numbers too large to be held exactly"
_MIXED = "its values are of several kinds"
_UNDECIDED = "not all of its dates or times are written as 2024-12-31 or 23:59"
_LONG = r"-?[0-9]\.[0-9]{15,}e\+[0-9]+"  # as the engine writes 12345678901234567.89
_OFFSET = "(Z|[-+][0-9]{2}(:?[0-9]{2})?)$"
_MOMENTS = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_ANY_ROWS = (  # each key is a column: the engine would make one column of many or differing keys
    f"read_json(?, maximum_object_size = {_LARGEST_OBJECT}, sample_size = -1, "
    "map_inference_threshold = -1, field_appearance_threshold = 0)"
)
_ROWS = f"read_json(?, maximum_object_size = {_LARGEST_OBJECT}, columns = {{columns}})"
_OBJECTS = (
    f"read_json(?, maximum_object_size = {_LARGEST_OBJECT}, columns = {{'json': 'JSON'}}, "
    "records = false)"
)

_Place = tuple[str, ...]  # the keys that lead to a value


def read_json(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> Understood:
    """Create the table of a JSON file; return how it was read. Raise SourceUnusable."""
    understood = Understood(["JSON"])
    try:
        with as_utf_8(path) as plain, _rows_within(connection, plain, understood) as rows:
            _make_table(connection, name, rows, understood)
    except UnicodeDecodeError:
        raise SourceUnusable(_OTHER_ENCODING) from None
    except _REFUSALS as error:
        text = str(error)
        reasons = [reason for part, reason in _REASONS.items() if part in text]
        raise SourceUnusable(reasons[0] if reasons else _NO_TABLE) from None
    return understood


@contextmanager
def _rows_within(
    connection: duckdb.DuckDBPyConnection, path: Path, understood: Understood
) -> Iterator[Path]:
    """Yield the file, or a new one with the list of objects that is in the only object of the file.

    Services return tables so: {"count": 2, "items": [{…}, {…}]}, {"d": {"results": [{…}]}}.
    """
    place = _place_of_rows(connection, path, understood) if _is_one_object(connection, path) else ()
    if not place:
        yield path
        return
    pointer = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in place)
    query = f"SELECT json_extract(json, ?)::VARCHAR FROM {_OBJECTS}"  # noqa: S608  (our own)
    ((text,),) = connection.execute(query, [pointer, str(path)]).fetchall()
    rows = path.with_name(f"{path.name}.rows")
    try:
        rows.write_text(text, encoding="utf-8")
        yield rows
    finally:
        rows.unlink(missing_ok=True)


def _is_one_object(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    with open_bytes(path) as file:
        if not file.read(_HEAD).lstrip().startswith(b"{"):
            return False
    query = f"SELECT 1 FROM {_OBJECTS} LIMIT 2"  # noqa: S608  (our own)
    return len(connection.execute(query, [str(path)]).fetchall()) == 1


def _place_of_rows(
    connection: duckdb.DuckDBPyConnection, path: Path, understood: Understood
) -> _Place:
    """Return the keys that lead to the outermost list, if it is one of objects and the only one.

    Report what is beside it, or the lists that stay in cells.
    """
    found = connection.sql(f"FROM {_ANY_ROWS}", params=[str(path)])
    found.materialize()  # raises where the same key is there twice
    kinds = dict(zip(found.columns, found.types, strict=True))
    lists = _outermost_lists(kinds)
    names = listed([quote(".".join(place)) for place in lists])
    is_only = [_items(kind).id for kind in lists.values()] == ["struct"]
    if not is_only or _names_alike(connection, path, found.columns):
        if lists:
            understood.warn(
                f"The file is one row, with {names} in a cell. Rows are read from a list of "
                "objects, if it is the only list in the file."
            )
        return ()
    (place,) = lists
    understood.form.append(f"the list {names}")
    if beside := list(_beside(kinds, place)):
        understood.warn(f"Only the list is read, not what is beside it: {', '.join(beside)}.")
    return place


def _outermost_lists(kinds: Mapping[str, DuckDBPyType]) -> dict[_Place, DuckDBPyType]:
    """Return the lists of objects or of lists that are within the fewest objects, by their keys.

    Only the outer two: in objects of many levels, such as schemas, no list is the table.
    """
    level: dict[_Place, DuckDBPyType] = {(key,): kind for key, kind in kinds.items()}
    lists: dict[_Place, DuckDBPyType] = {}
    while level and not lists and len(next(iter(level))) <= _DEEPEST:
        lists = {p: kind for p, kind in level.items() if _is_list_of_more(kind)}
        level = {(*p, key): kind for p, of in level.items() for key, kind in _fields(of).items()}
    return lists


def _beside(kinds: Mapping[str, DuckDBPyType], place: _Place) -> Iterator[str]:
    """Yield the names of what is not on the way to a place."""
    for depth, key in enumerate(place):
        yield from (".".join((*place[:depth], other)) for other in kinds if other != key)
        kinds = _fields(kinds[key])


def _is_list_of_more(kind: DuckDBPyType) -> bool:
    return kind.id == "list" and _items(kind).id in ("struct", "list")


def _items(kind: DuckDBPyType) -> DuckDBPyType:
    return _held(kind)["child"]


def _fields(kind: DuckDBPyType) -> Mapping[str, DuckDBPyType]:
    return _held(kind) if kind.id == "struct" else {}


def _held(kind: DuckDBPyType) -> Mapping[str, DuckDBPyType]:
    return {name: held for name, held in kind.children if isinstance(held, DuckDBPyType)}


def _make_table(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, understood: Understood
) -> None:
    found = connection.sql(f"FROM {_ANY_ROWS}", params=[str(path)])
    check_width(len(found.columns))
    types = dict(zip(found.columns, map(str, found.types), strict=True))
    rows = _ANY_ROWS
    kept: dict[str, str] = {}
    local: dict[str, str] = {}
    if alike := _names_alike(connection, path, list(types)):
        _tell_unchecked(alike, types, understood)
    else:
        kept = _columns_to_keep_as_text(connection, path, types)
        local = _local_times(connection, path, types, kept)
    if kept or local:
        rows = _rows(types | dict.fromkeys((*kept, *local), "VARCHAR"))
    clocks = ", ".join(f"{_clock(column)} AS {identifier(column)}" for column in local)
    replaced = f" REPLACE ({clocks})" if local else ""
    connection.execute(f'CREATE TABLE "{name}" AS SELECT *{replaced} FROM {rows}', [str(path)])  # noqa: S608 - names are quoted
    for column, zone in local.items():
        understood.columns[column] = f"local times as written, in {zone}"
        understood.facts.setdefault(LOCAL_ZONES, {})[column] = zone
    for column, reason in kept.items():
        understood.warn(f"{column}: stays text: {reason}.")
    for column in [] if alike else _rounded_columns(connection, name):
        understood.warn(f"{column}: its numbers of more than 15 digits are rounded.")


def _local_times(
    connection: duckdb.DuckDBPyConnection, path: Path, types: dict[str, str], kept: Iterable[str]
) -> dict[str, str]:
    """Return the zones of the columns with times of one zone: the engine would make them UTC."""
    columns = [c for c, kind in types.items() if kind == INSTANT and c not in kept]
    rows = _rows(types | dict.fromkeys(columns, "VARCHAR")).replace("?", literal(str(path)))
    found = {}
    for column in columns:
        minutes = minutes_sql(f"regexp_extract({identifier(column)}, '{_OFFSET}')")
        times = f"SELECT {_clock(column)} AS clock, {minutes} AS minutes FROM {rows}"  # noqa: S608 - quoted
        if zone := local_zone(connection, f"{times} WHERE {identifier(column)} IS NOT NULL"):
            found[column] = zone
    return found


def _clock(column: str) -> str:
    """Return the SQL of a time's day and clock as they are written."""
    return rf"CAST(regexp_replace({identifier(column)}, '\s*{_OFFSET}', '') AS TIMESTAMP)"


def _rounded_columns(connection: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """Return the columns of floats that hold decimals of more digits than a float keeps."""
    described = connection.execute(f'DESCRIBE "{name}"').fetchall()
    floats = [column for column, kind, *_ in described if kind == "DOUBLE"]
    if not floats:
        return []
    tests = [f"regexp_full_match({identifier(c)}::VARCHAR, {literal(_LONG)})" for c in floats]
    asked = ", ".join(f"bool_or({test})" for test in tests)
    (found,) = connection.execute(f'SELECT {asked} FROM "{name}"').fetchall()  # noqa: S608 - quoted
    return [column for column, is_long in zip(floats, found, strict=True) if is_long]


def _columns_to_keep_as_text(
    connection: duckdb.DuckDBPyConnection, path: Path, types: dict[str, str]
) -> dict[str, str]:
    """Return why columns do not get the type that the engine guessed, by column."""
    doubts = [(column, *doubt) for column in types for doubt in _doubts(column, types[column])]
    if not doubts:
        return {}
    tests = ", ".join(f"coalesce(bool_or({test}), false)" for _, _, test in doubts)
    rows = _rows(types | {column: "VARCHAR" for column, _, _ in doubts})
    query = f"SELECT {tests} FROM {rows}"  # noqa: S608  (names and types, quoted)
    found = connection.execute(query, [str(path)]).fetchone() or ()
    holding = [doubt for doubt, holds in zip(doubts, found, strict=True) if holds]
    return {column: reason for column, reason, _ in holding}


def _doubts(column: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield why a type may not suit the column, and the test of its text that decides it."""
    if kind == "JSON":  # its texts are in quotes, and 164 is less than 63
        yield _MIXED, _has_plain_value(column)
    if kind == "DOUBLE":
        yield _TOO_LARGE, _loses_digits(column)
    elif "DOUBLE" in kind:
        yield _TOO_LARGE, _has_long_number(column)
    if kind in _MOMENTS:
        yield _UNDECIDED, _is_undecided(column)
    elif "DATE" in kind or "TIMESTAMP" in kind:
        yield _UNDECIDED, _has_undecided_date(column)


def _has_plain_value(column: str) -> str:
    """Return the test of text for a value that is neither an object nor an array."""
    return f"NOT regexp_matches({identifier(column)}, '^\\s*[\\[{{]')"


def _loses_digits(column: str) -> str:
    text = identifier(column)
    value = f"TRY_CAST({text} AS DOUBLE)"
    is_whole = f"regexp_full_match({text}, '-?[0-9]{{16,}}')"
    same = f"TRY_CAST({value} AS HUGEINT)::VARCHAR = {text}"
    loses = f"isinf({value}) OR ({is_whole} AND NOT coalesce({same}, false))"
    return f"{text} IS NOT NULL AND coalesce({loses}, true)"


def _has_long_number(column: str) -> str:
    """Return the test of objects or arrays, as JSON, for numbers that a float may not hold."""
    number = "-?([0-9]{16,}|[0-9.]+[eE][+]?[0-9]{3,})"
    return f"regexp_matches({identifier(column)}, '[\\[:,]\\s*{number}')"


def _is_undecided(column: str) -> str:
    """Return the test of text that a day or time must be guessed from: 03-04-2024, 12-05-06."""
    decided = "\\s*([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}:[0-9]{2})"
    return f"NOT regexp_matches({identifier(column)}, '^{decided}')"


def _has_undecided_date(column: str) -> str:
    """Return the test of objects or arrays, as JSON, for dates that must be guessed."""
    date = "\\s*([0-9]{1,3}-[0-9]{1,2}-[0-9]|epoch|-?infinity)"  # words are 1900-01-01 to DuckDB
    return f"regexp_matches({identifier(column)}, '(?i)[\\[:,]\\s*\"{date}')"


def _names_alike(
    connection: duckdb.DuckDBPyConnection, path: Path, columns: list[str]
) -> list[str]:
    """Return names in the file that differ only in case; the engine adds _1 to all but the first.

    The file is searched for them only if a column may be named so.
    """
    lower = {name.lower() for name in columns}
    if not any(re.sub(r"_\d+$", "", name) in lower - {name} for name in lower):
        return []
    query = f"SELECT DISTINCT unnest(json_keys(json)) FROM {_OBJECTS}"  # noqa: S608  (our own)
    keys = sorted(key for (key,) in connection.execute(query, [str(path)]).fetchall())
    counts = Counter(key.lower() for key in keys)
    return [key for key in keys if counts[key.lower()] > 1]


def _tell_unchecked(alike: list[str], types: dict[str, str], understood: Understood) -> None:
    """Report what is not checked: rows cannot be read as text by names that differ only in case."""
    if any(True for column, kind in types.items() for _ in _doubts(column, kind)):
        understood.warn(
            "Numbers of more than 15 digits may be rounded, dates may be guessed, and texts among "
            f"other values be in quotes, because names differ only in case: {', '.join(alike)}. "
            "Rename them in the file."
        )


def _rows(types: dict[str, str]) -> str:
    """Return the relation of the file's rows with columns of these types."""
    columns = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items())
    return _ROWS.format(columns=f"{{{columns}}}")
