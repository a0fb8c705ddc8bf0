"""The difference between two versions: rows and cells of tables, lines of texts.

All of this runs in a child of the sandbox; data that exceeds its memory is on disk.
"""

import difflib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from backend.data.engines.local import fetch
from backend.data.files.parquet import opened
from backend.data.results import Limits, Scalar
from backend.data.sql.quoting import identifier
from backend.errors.artifacts import ArtifactRefused
from backend.types import JSON

MOST_LINES = 2_000
MOST_LINE_CHARS = 2_000
_BYTES = Limits().bytes
_NUMBERS = "TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE"
_NUMERIC = frozenset(_NUMBERS.split())


def diff_tables(before: Path, after: Path, key: Sequence[str], most: int, folder: Path) -> JSON:
    """Return added, removed and changed rows, the first `most` of them, and their counts.

    Without a key, whole rows are compared and equal ones counted, like EXCEPT ALL in both
    directions. Raise ArtifactRefused for a key that is not a column or does not identify rows.
    """
    with opened(folder) as connection:
        old, new = (connection.read_parquet(str(place)) for place in (before, after))
        names = [name for name in new.columns if name in old.columns]
        header: JSON = {
            "kind": "rows",
            "key": list(key),
            "columns_added": [name for name in new.columns if name not in old.columns],
            "columns_removed": [name for name in old.columns if name not in new.columns],
        }
        sides = _Sides(connection, old, new, names)
        return {**header, **(sides.by_key(key, most) if key else sides.by_rows(most))}


def diff_texts(before: str, after: str, names: tuple[str, str], *, is_json: bool) -> JSON:
    """Return a unified diff of two texts, cut to its first lines, and its line counts."""
    if is_json:
        before, after = _indented(before), _indented(after)
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    lines: list[str] = []
    added = removed = seen = 0
    for seen, line in enumerate(diff, 1):
        added += seen > 2 and line.startswith("+")
        removed += seen > 2 and line.startswith("-")
        if seen <= MOST_LINES:
            lines.append(line[:MOST_LINE_CHARS])
    is_cut = seen > MOST_LINES
    return {"kind": "lines", "added": added, "removed": removed, "lines": lines, "is_cut": is_cut}


def _indented(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, indent=2, sort_keys=True)


class _Sides:
    """Two tables with columns named c0, c1 and so on, and `p`, the row's place."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        old: duckdb.DuckDBPyRelation,
        new: duckdb.DuckDBPyRelation,
        names: Sequence[str],
    ) -> None:
        self._connection = connection
        self._names = names
        self._columns = [f"c{number}" for number in range(len(names))]
        types = [dict(zip(side.columns, map(str, side.types), strict=True)) for side in (old, new)]
        self._texts = {n for n in names if not _comparable(types[0][n], types[1][n])}
        for name, side in (("old", old), ("new", new)):
            self._view(side, name)

    def by_rows(self, most: int) -> JSON:
        """Count the rows that occur more often after than before, or less often."""
        columns = ", ".join(self._columns)
        group = f"GROUP BY {columns}" if columns else ""
        listed = f"{columns}, " if columns else ""
        self._do(
            f"CREATE TEMP TABLE found AS SELECT {listed}sum(s)::BIGINT AS s, min(p) AS p FROM ("  # noqa: S608 - our own names
            f"SELECT {listed}-1 AS s, p FROM old UNION ALL SELECT {listed}1, p FROM new)"
            f" {group} HAVING sum(s) <> 0"
        )
        counts = "coalesce(sum(s) FILTER (s > 0), 0), coalesce(-sum(s) FILTER (s < 0), 0)"
        added, removed = self._one(f"SELECT {counts} FROM found")  # noqa: S608
        first = self._rows(
            f"SELECT s, {columns} FROM found ORDER BY p, s LIMIT {int(most)}" if columns else "",  # noqa: S608
            most,
        )
        rows: list[JSON] = []
        for count, *cells in first:
            change = "added" if int(str(count)) > 0 else "removed"
            row = dict(zip(self._names, cells, strict=True))
            times = min(abs(int(str(count))), most - len(rows))
            rows += [{"change": change, "row": row, "cells": []} for _ in range(times)]
        total = added + removed
        return {"added": added, "removed": removed, "rows": rows, "is_cut": total > len(rows)}

    def by_key(self, key: Sequence[str], most: int) -> JSON:
        """Compare the cells of rows with the same key."""
        keys = [self._column_of(name) for name in key]
        for side in ("old", "new"):
            self._check_distinct(side, keys, key)
        same = " AND ".join(f"old.{c} IS NOT DISTINCT FROM new.{c}" for c in keys)
        others = [column for column in self._columns if column not in keys]
        differ = " OR ".join(f"old.{c} IS DISTINCT FROM new.{c}" for c in others) or "false"
        self._do(
            "CREATE TEMP TABLE found AS SELECT old.p AS b, new.p AS a FROM old FULL JOIN new ON"  # noqa: S608 - our own names
            f" {same} WHERE old.p IS NULL OR new.p IS NULL OR {differ}"
        )
        added, removed, changed = self._one(
            "SELECT count(*) FILTER (b IS NULL), count(*) FILTER (a IS NULL),"
            " count(*) FILTER (a IS NOT NULL AND b IS NOT NULL) FROM found"
        )
        sides = ", ".join(f"{side}.{c}" for side in ("old", "new") for c in self._columns)
        found = self._rows(
            f"SELECT f.b, f.a, {sides} FROM (SELECT * FROM found ORDER BY coalesce(a, b), a IS NULL"  # noqa: S608 - our own names
            f" LIMIT {int(most)}) f LEFT JOIN old ON old.p = f.b LEFT JOIN new ON new.p = f.a"
            " ORDER BY coalesce(f.a, f.b), f.a IS NULL",
            most,
        )
        rows = [self._change(*row) for row in found]
        counts = {"added": added, "removed": removed, "changed": changed}
        return {**counts, "rows": rows, "is_cut": added + removed + changed > len(rows)}

    def _change(self, b: Scalar, a: Scalar, *cells: Scalar) -> JSON:
        old, new = cells[: len(self._names)], cells[len(self._names) :]
        shown = old if a is None else new
        row = dict(zip(self._names, shown, strict=True))
        if a is None or b is None:
            return {"change": "removed" if a is None else "added", "row": row, "cells": []}
        pairs = zip(self._names, old, new, strict=True)
        changed = [{"column": n, "before": o, "after": v} for n, o, v in pairs if o != v]
        return {"change": "changed", "row": row, "cells": changed}

    def _view(self, side: duckdb.DuckDBPyRelation, name: str) -> None:
        """Rename the columns, and number the rows in the file's order."""
        parts = [
            f"CAST({identifier(n)} AS VARCHAR) AS {c}"
            if n in self._texts
            else f"{identifier(n)} AS {c}"
            for n, c in zip(self._names, self._columns, strict=True)
        ]
        side.project(", ".join([*parts, "row_number() OVER () AS p"])).create_view(name)

    def _column_of(self, name: str) -> str:
        if name not in self._names:
            known = ", ".join(self._names[:40])
            raise ArtifactRefused(
                f"{name!r} is not a column of both versions, so it cannot identify rows. "
                f"Their columns are: {known}."
            )
        return self._columns[self._names.index(name)]

    def _check_distinct(self, side: str, keys: Sequence[str], named: Sequence[str]) -> None:
        columns = ", ".join(keys)
        (several,) = self._one(
            f"SELECT count(*) FROM (SELECT 1 FROM {side} GROUP BY {columns} HAVING count(*) > 1)"  # noqa: S608 - our own names
        )
        if several:
            version = "earlier" if side == "old" else "later"
            raise ArtifactRefused(
                f"{', '.join(named)} does not identify rows: {several:,} of its values occur "
                f"more than once in the {version} version. Name more columns, or leave out `key`."
            )

    def _one(self, sql: str) -> tuple[Any, ...]:
        (found,) = self._do(sql)
        return tuple(map(int, found))

    def _do(self, sql: str) -> list[Any]:
        """Run a statement to completion before the connection is used again."""
        return self._connection.execute(sql).fetchall()

    def _rows(self, sql: str, most: int) -> list[list[Scalar]]:
        if not sql:
            return []
        return fetch(self._connection.sql(sql), Limits(rows=most, bytes=_BYTES)).rows


def _comparable(one: str, other: str) -> bool:
    return one == other or all(t in _NUMERIC or t.startswith("DECIMAL") for t in (one, other))
