"""Makes database drivers return values as the server writes them where Python has no equivalent.

Python has no infinite date, no day 0000-00-00, no time of 25 hours and no month as a duration;
drivers change such values, or fail.
"""

from typing import Any

import psycopg2.extensions
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions
from pymysql.cursors import SSCursor

from backend.data.results import short_time
from backend.data.zones import INSTANT

_KEPT_WORDS = """
    BOOLEAN BINARY STRING LONGINTEGER INTEGER ROWID FLOAT DECIMAL UNKNOWN BOOLEANARRAY BINARYARRAY
    STRINGARRAY INTEGERARRAY ROWIDARRAY LONGINTEGERARRAY FLOATARRAY DECIMALARRAY
"""
_KEPT = frozenset(_KEPT_WORDS.split())
_TIMES = frozenset(["DATE", "TIME", "DATETIME", "DATETIMETZ"])

# The servers' defaults; a role or a server may be configured otherwise.
POSTGRES_FORMS = (
    "SET LOCAL datestyle = 'ISO'",
    "SET LOCAL intervalstyle = 'postgres'",
    "SET LOCAL bytea_output = 'hex'",
    "SET LOCAL extra_float_digits = 1",
)
# By the drivers' numbers: the types whose values are texts here, so that nothing else tells them.
_POSTGRES_TIMES = {1082: "DATE", 1114: "TIMESTAMP", 1184: INSTANT}
_MYSQL_TIMES = {
    FIELD_TYPE.DATE: "DATE",
    FIELD_TYPE.DATETIME: "TIMESTAMP",
    FIELD_TYPE.TIMESTAMP: INSTANT,
}
_TIMES_BY_KIND = {"postgresql": _POSTGRES_TIMES, "mysql": _MYSQL_TIMES, "mariadb": _MYSQL_TIMES}


def time_type(kind: str, number: object) -> str:
    """Return the type of days and times that a driver means by a number, "" for any other."""
    return _TIMES_BY_KIND.get(kind, {}).get(number, "")


def mysql_conversions() -> dict[Any, Any]:
    """Return PyMySQL's conversions: times stay text, BIT is a number as in comparisons."""
    changed = {
        FIELD_TYPE.DATE: short_time,
        FIELD_TYPE.TIME: short_time,
        FIELD_TYPE.DATETIME: short_time,
        FIELD_TYPE.TIMESTAMP: short_time,
        FIELD_TYPE.BIT: _bits,
    }
    return {**conversions, **changed}


def leave_unread(cursor: Any) -> None:
    """Make PyMySQL discard the rest of a result, whose connection can then only be closed.

    Cursor and result read the rest when they are collected, also from a closed connection, which
    fails; PyMySQL has no public way to keep them from it.
    """
    if isinstance(cursor, SSCursor) and cursor._result is not None:
        cursor._result.unbuffered_active = False


def keep_postgres_texts(connection: Any) -> None:
    """Make psycopg2 return everything but numbers, texts and bytes as PostgreSQL's text."""
    text = psycopg2.extensions.new_type((25,), "TEXT", lambda value, _: value)
    for number, caster in tuple(psycopg2.extensions.string_types.items()):
        name = caster.name
        if name in _KEPT:
            continue
        if name in _TIMES:
            reader = psycopg2.extensions.new_type((number,), name, _time)
        elif name.endswith("ARRAY"):
            reader = psycopg2.extensions.new_array_type((number,), name, text)
        else:
            reader = psycopg2.extensions.new_type((number,), name, lambda value, _: value)
        psycopg2.extensions.register_type(reader, connection)


def _bits(raw: Any) -> int:
    return int.from_bytes(raw, "big")


def _time(value: Any, _: object) -> str | None:
    return None if value is None else short_time(value)
