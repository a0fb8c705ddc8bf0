"""The offsets that times are written with: the times of one zone stay local, others are in UTC.

`2026-01-31 23:30 -0500` is in January where it was written. So times that all have one offset, or
the two of one zone with summer time, keep the day and clock of the text. Times of several zones
have no common day; they are converted to UTC, and so are their days and months.
"""

from collections.abc import Sequence

import duckdb

_LONGEST_SHIFT = 60  # minutes between a zone's winter and its summer
_MOST_CHANGES = 2  # per year


def minutes_sql(zone: str) -> str:
    """Return the SQL of an offset in minutes: '', Z, UTC, +01, +0100, +01:00; NULL for others."""
    digits = f"replace({zone}, ':', '')"
    hours = f"TRY_CAST({digits}[2:3] AS INT)"
    minutes = f"coalesce(TRY_CAST({digits}[4:5] AS INT), 0)"
    sign = f"CASE WHEN {zone}[1] = '-' THEN -1 ELSE 1 END"
    return (
        f"CASE WHEN {zone} IN ('', 'Z', 'UTC') THEN 0 "
        f"WHEN {hours} <= 15 AND {minutes} < 60 THEN ({sign}) * (60 * {hours} + {minutes}) END"
    )


def local_zone(connection: duckdb.DuckDBPyConnection, times: str) -> str:
    """Return the zone of times that are local ones of one zone; "" if they are of several.

    `times` is the SQL of rows with `clock`, a TIMESTAMP as written, and `minutes`, its offset.
    """
    ((found, unknown),) = connection.execute(
        "SELECT list_sort(list(DISTINCT minutes)[:3]), count(*) FILTER (minutes IS NULL) "  # noqa: S608 - our own names
        f"FROM ({times})"
    ).fetchall()
    offsets: Sequence[int] = found or ()
    if unknown:
        return ""
    if len(offsets) == 1:
        return _written(offsets[0])
    if len(offsets) != 2 or offsets[1] - offsets[0] > _LONGEST_SHIFT:
        return ""
    if _changes(connection, times) > _MOST_CHANGES:
        return ""
    winter, summer = map(_written, offsets)
    return f"{winter}, in summer {summer}"


def _changes(connection: duckdb.DuckDBPyConnection, times: str) -> int:
    """Return how often the offset changes in the year in which it does so most often."""
    ((count,),) = connection.execute(
        f"""
        WITH instants AS (
            SELECT clock - to_minutes(minutes) AS instant, minutes FROM ({times})
            WHERE clock IS NOT NULL
        ), days AS (
            SELECT date_trunc('day', instant) AS day, min(minutes) <> max(minutes) AS is_mixed,
                arg_min(minutes, instant) AS first, arg_max(minutes, instant) AS last
            FROM instants GROUP BY 1
        ), turns AS (
            SELECT year(day) AS year, is_mixed::INT +
                coalesce(first <> lag(last) OVER (ORDER BY day), false)::INT AS count FROM days
        )
        SELECT max(total) FROM (SELECT sum(count) AS total FROM turns GROUP BY year)
        """  # noqa: S608 - our own names
    ).fetchall()
    return int(count or 0)


def _written(minutes: int) -> str:
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"
