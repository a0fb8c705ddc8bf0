"""What is different between two tables or texts."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.artifacts.diffing import diff_tables, diff_texts
from backend.errors.artifacts import ArtifactRefused
from backend.types import JSON

CELLS = st.one_of(st.none(), st.integers(-2, 2))
TABLES = st.lists(st.tuples(CELLS, st.sampled_from(["", "a", "b", None])), max_size=12)


def table(place: Path, rows: Any, names: str = "k, v", types: str = "k BIGINT, v VARCHAR") -> Path:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({types})")
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO t ({names}) VALUES ({marks})", rows)
        connection.execute(f"COPY t TO '{place}' (FORMAT parquet)")
    return place


def by_except(first: Path, second: Path) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        sides = (f"SELECT * FROM read_parquet('{place}')" for place in (first, second))
        return connection.execute(" EXCEPT ALL ".join(sides)).fetchall()


def rows_of(told: JSON, change: str) -> list[tuple[Any, ...]]:
    return [tuple(row["row"].values()) for row in told["rows"] if row["change"] == change]


def in_order(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, rows))


@settings(max_examples=12)
@given(TABLES, TABLES)
def test_whole_rows_differ_as_except_says_both_ways(tmp_path_factory: Any, a: Any, b: Any) -> None:
    home = tmp_path_factory.mktemp("diff")
    before, after = table(home / "a", a), table(home / "b", b)

    told = diff_tables(before, after, [], 200, home)

    assert in_order(rows_of(told, "added")) == in_order(by_except(after, before))
    assert in_order(rows_of(told, "removed")) == in_order(by_except(before, after))
    assert (told["added"], told["removed"]) == (
        len(by_except(after, before)),
        len(by_except(before, after)),
    )


def test_by_a_key_the_cells_are_told(tmp_path: Path) -> None:
    before = table(tmp_path / "a", [(1, "x"), (2, "y"), (None, "n")])
    after = table(tmp_path / "b", [(3, "z"), (1, "X"), (None, "n")])

    told = diff_tables(before, after, ["k"], 200, tmp_path)

    assert (told["added"], told["removed"], told["changed"]) == (1, 1, 1)
    (changed,) = [row for row in told["rows"] if row["change"] == "changed"]
    assert changed == {
        "change": "changed",
        "row": {"k": 1, "v": "X"},
        "cells": [{"column": "v", "before": "x", "after": "X"}],
    }
    assert rows_of(told, "added") == [(3, "z")]
    assert rows_of(told, "removed") == [(2, "y")]


def test_a_key_that_tells_no_rows_apart_is_refused(tmp_path: Path) -> None:
    before, after = table(tmp_path / "a", [(1, "x"), (1, "y")]), table(tmp_path / "b", [(1, "x")])

    with pytest.raises(ArtifactRefused, match="earlier version"):
        diff_tables(before, after, ["k"], 200, tmp_path)
    with pytest.raises(ArtifactRefused, match="Their columns are: k, v"):
        diff_tables(before, after, ["nothing"], 200, tmp_path)


def test_columns_may_come_go_and_change_their_type(tmp_path: Path) -> None:
    before = table(tmp_path / "a", [("1", "x")], "k, old", "k VARCHAR, old VARCHAR")
    after = table(tmp_path / "b", [(1, "x")], "k, new", "k BIGINT, new VARCHAR")

    told = diff_tables(before, after, [], 200, tmp_path)

    assert (told["columns_added"], told["columns_removed"]) == (["new"], ["old"])
    assert (told["added"], told["removed"]) == (0, 0)


def test_more_rows_than_are_shown_are_counted(tmp_path: Path) -> None:
    before, after = table(tmp_path / "a", []), table(tmp_path / "b", [(n, "") for n in range(9)])

    told = diff_tables(before, after, [], 4, tmp_path)

    assert (told["added"], len(told["rows"]), told["is_cut"]) == (9, 4, True)


def test_texts_differ_by_lines_and_json_by_its_values() -> None:
    lines = diff_texts("a\nb\n", "a\nc\n--- d\n", ("1", "2"), is_json=False)
    equal = diff_texts('{"a":1,"b":2}', '{"b": 2, "a": 1}', ("1", "2"), is_json=True)

    assert (lines["added"], lines["removed"]) == (2, 1)
    assert lines["lines"][-3:] == ["-b", "+c", "+--- d"]
    assert equal["lines"] == []
