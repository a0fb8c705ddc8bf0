"""Durations of workbooks and Parquet files are seconds, and said to be."""

from datetime import datetime, time, timedelta

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from backend.data.files.formats import Format
from backend.data.files.readers import read_file
from tests.unit.data.files.uploading import fill

LENGTHS = [timedelta(hours=1, minutes=30), timedelta(hours=120, seconds=5), timedelta(0)]
SECONDS = [5_400.0, 432_005.0, 0.0]
SAID = "durations, in seconds: 1:30:00 is 5400"


def timesheet(tmp_path, lengths, form="[h]:mm"):
    """A workbook with a column of these, and one of numbers."""
    book = openpyxl.Workbook()
    book.active.append(["n", "worked"])
    for row, length in enumerate(lengths, 2):
        book.active.append([row, length])
        if isinstance(length, timedelta):
            book.active.cell(row, 2).number_format = form
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def read(path):
    """The second column, its type, and what is said of the table."""
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        ((name, understood),) = read_file(connection, "t", path).items()
        relation = connection.sql(f'FROM "{name}"')
        return [row[1] for row in relation.fetchall()], str(relation.types[1]), understood


@pytest.mark.parametrize("form", ["[h]:mm", "[hh]:mm:ss", "[mm]:ss", "[ss]"])
def test_durations_of_a_workbook_are_seconds(tmp_path, form):
    cells, type_, understood = read(timesheet(tmp_path, LENGTHS, form))

    assert (cells, type_) == (SECONDS, "DOUBLE")
    assert understood.columns == {"worked": SAID}
    assert understood.warnings == [f"worked: {SAID}."]


def test_so_are_fractions_negative_ones_and_cells_without_one(tmp_path):
    lengths = [timedelta(milliseconds=1_500), None, timedelta(hours=-2)]

    cells, *_ = read(timesheet(tmp_path, lengths))

    assert cells == [1.5, None, -7_200.0]


def test_times_among_durations_are_durations(tmp_path):
    cells, *_ = read(timesheet(tmp_path, [*LENGTHS, time(7, 45)]))

    assert cells == [*SECONDS, 27_900.0]


def test_times_alone_are_times_of_a_day(tmp_path):
    cells, type_, _ = read(timesheet(tmp_path, [time(7, 45), time(16, 30)]))

    assert (cells, type_) == ([time(7, 45), time(16, 30)], "TIME")


def test_a_total_of_durations_is_left_out(tmp_path):
    path = timesheet(tmp_path, LENGTHS)
    book = openpyxl.load_workbook(path)
    book.active.append(["Total", sum(LENGTHS, timedelta())])
    book.active.cell(5, 2).number_format = "[h]:mm"
    book.save(path)

    cells, _, understood = read(path)

    assert cells == SECONDS
    assert "Line 5 is the total of the others and was left out: 'Total | 121:30:05'." in (
        understood.warnings
    )


def test_durations_among_words_are_text_with_hours(tmp_path):
    cells, type_, _ = read(timesheet(tmp_path, [*LENGTHS, "on leave"]))

    assert (cells, type_) == (["1:30:00", "120:00:05", "0:00:00", "on leave"], "VARCHAR")


@pytest.mark.parametrize(
    ("wanted", "cells"),
    [("text", ["1:30:00", "120:00:05", "0:00:00"]), ("number", SECONDS), ("integer", SECONDS)],
)
def test_durations_can_be_corrected_to_text_or_numbers(tmp_path, wanted, cells):
    content = timesheet(tmp_path, LENGTHS).read_bytes()

    rows = fill(tmp_path, content, {"types": {"worked": wanted}}, Format.WORKBOOK, "b.xlsx")

    assert [row[1] for row in rows] == cells


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_of_parquet_are_seconds_whatever_their_unit(tmp_path, unit):
    lengths = pa.array([*LENGTHS, None], pa.duration(unit))
    pq.write_table(pa.table({"n": [1, 2, 3, 4], "worked": lengths}), tmp_path / "a.parquet")

    cells, type_, understood = read(tmp_path / "a.parquet")

    assert (cells, type_) == ([*SECONDS, None], "DOUBLE")
    assert understood.columns == {"worked": SAID}
    assert understood.warnings == [f"worked: {SAID}."]


def test_the_unit_of_durations_in_lists_is_said(tmp_path):
    lists = pa.array([LENGTHS], pa.list_(pa.duration("ms")))
    pq.write_table(pa.table({"n": [1], "laps": lists}), tmp_path / "a.parquet")

    cells, _, understood = read(tmp_path / "a.parquet")

    assert cells == [[5_400_000, 432_005_000, 0]]
    assert understood.warnings == ["laps: durations in it are numbers of milliseconds."]


@pytest.mark.parametrize("schema", [b"no base64", b"QUJD", b""])
def test_a_damaged_schema_of_arrow_changes_nothing(tmp_path, schema):
    table = pa.table({"n": [1], "x": [2]})
    with pq.ParquetWriter(tmp_path / "a.parquet", table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"ARROW:schema": schema})

    assert read(tmp_path / "a.parquet")[0] == [2]


def test_a_schema_of_arrow_that_does_not_fit_changes_nothing(tmp_path):
    said = pa.schema([("n", pa.int64()), ("at", pa.duration("ms"))])
    pq.write_table(said.empty_table(), tmp_path / "said.parquet")
    schema = pq.ParquetFile(tmp_path / "said.parquet").metadata.metadata[b"ARROW:schema"]
    table = pa.table({"n": [1], "at": pa.array([datetime(2026, 1, 1)], pa.timestamp("ms"))})
    with pq.ParquetWriter(tmp_path / "a.parquet", table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"ARROW:schema": schema})

    cells, _, understood = read(tmp_path / "a.parquet")

    assert cells == [datetime(2026, 1, 1)]
    assert not understood.warnings
