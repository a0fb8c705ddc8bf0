"""Repeats the labels of an outline, as of a pivot table, whose groups name themselves once.

A group's label stands in its first row only; below it the cells are empty, which are no missing
values. It is an outline only if the first columns say so: each label stands once within the group
before it, every row has a label in the column behind, and at least as many cells are empty as
filled, or the labels behind are the same in several groups.
"""

import duckdb

from backend.data.reading.raw import RAW
from backend.data.reading.understood import Understood

_MOST_LEVELS = 5


def fill_outline(
    connection: duckdb.DuckDBPyConnection, names: list[str], understood: Understood
) -> None:
    """Fill the labels of an outline and report it; name cells that may be some, but are not sure.

    The first columns are looked at, from left to right, up to the first without an empty cell.
    """
    group: list[str] = []
    for place in range(min(len(names) - 1, _MOST_LEVELS)):
        label, behind = f"c{place}", f"c{place + 1}"
        if not _may_be_outline(connection, label, behind):
            return
        empty, is_outline, is_sure = _look(connection, label, behind, group)
        if not is_outline:
            return
        cells = f"{empty:,} empty cell{'s' if empty > 1 else ''} below a label"
        if not is_sure:
            understood.warn(f"{names[place]}: {cells} may stand for it, as in an outline; NULL.")
            return
        _fill(connection, label, group)
        understood.warn(f"{names[place]}: {cells} repeat it, as the rows are an outline.")
        group.append(label)


def _may_be_outline(connection: duckdb.DuckDBPyConnection, label: str, behind: str) -> bool:
    """Return whether some cells are empty, and none where there is a label but none behind."""
    ((filled, empty, alone),) = connection.execute(
        f"SELECT count({label}), count(*) FILTER ({label} IS NULL), "  # noqa: S608 - our own names
        f"count(*) FILTER ({label} IS NOT NULL AND {behind} IS NULL) FROM {RAW}"
    ).fetchall()
    return bool(filled > 1 and empty > 0 and alone == 0)


def _look(
    connection: duckdb.DuckDBPyConnection, label: str, behind: str, group: list[str]
) -> tuple[int, bool, bool]:
    """Return how many labels are empty, and whether it is an outline, maybe or surely.

    The label behind may have empty cells itself, if it is one of an outline: then all rows have
    one at the latest where a group begins.
    """
    within = f"PARTITION BY {', '.join(group)} " if group else ""
    same = ", ".join([*group, label])
    above = "".join(f"{one}, " for one in group)
    ((filled, empty, distinct, starts, pairs, kinds, others),) = connection.execute(
        f"SELECT count({label}), count(*) - count({label}), "  # noqa: S608 - our own names
        f"count(DISTINCT ({same})) FILTER ({label} IS NOT NULL), "
        f"bool_and({label} IS NOT NULL) FILTER (number = 1), "
        f"count(DISTINCT ({above}filled, {behind})), count(DISTINCT {behind}), count({behind}) "
        f"FROM (SELECT {above}{label}, {behind}, "
        f"row_number() OVER ({within}ORDER BY line) AS number, "
        f"last_value({label} IGNORE NULLS) OVER ({within}ORDER BY line) AS filled FROM {RAW})"
    ).fetchall()
    has_labels = others == filled + empty or others > filled
    is_outline = bool(starts) and distinct == filled and has_labels
    is_outline = is_outline and _are_labels(connection, label)
    return empty, is_outline, empty >= filled or (kinds < pairs == others)


def _are_labels(connection: duckdb.DuckDBPyConnection, label: str) -> bool:
    """Return whether the filled cells are names, or years: amounts are no labels."""
    ((amounts,),) = connection.execute(
        f"SELECT count(*) FROM {RAW} WHERE {label} IS NOT NULL "  # noqa: S608 - our own names
        f"AND regexp_full_match(trim({label}), '[-+(]?[^\\pL]*[0-9][^\\pL]*') "
        f"AND NOT regexp_full_match(trim({label}), '(19|20)[0-9]{{2}}')"
    ).fetchall()
    return bool(amounts == 0)


def _fill(connection: duckdb.DuckDBPyConnection, label: str, group: list[str]) -> None:
    within = f"PARTITION BY {', '.join(group)} " if group else ""
    connection.execute(
        f"UPDATE {RAW} SET {label} = above FROM (SELECT line AS at_line, "  # noqa: S608 - our own names
        f"last_value({label} IGNORE NULLS) OVER ({within}ORDER BY line) AS above FROM {RAW}) "
        f"WHERE line = at_line AND {label} IS NULL"
    )
