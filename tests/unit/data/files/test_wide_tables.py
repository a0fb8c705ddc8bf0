"""Tables of many columns are read with the memory that there is."""

from pathlib import Path

import duckdb
import openpyxl
import pytest

from backend.data.files.formats import Format
from backend.data.files.readers import in_words
from backend.data.files.uploads import Upload, fill_upload
from backend.data.profile import list_tables, profile_tables
from backend.data.source_reader import READING


def fill(tmp_path, stored, format_):
    """The types of the columns of an uploaded file, and its last row."""
    snapshot = tmp_path / "snapshot.duckdb"
    fill_upload(snapshot, "Sheet", Upload("id", stored, stored.name, format_))
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        table = connection.sql("FROM Sheet")
        return [str(kind) for kind in table.types], table.fetchall()[-1]


@pytest.mark.parametrize(
    ("width", "cell", "kind"),
    [(40, "abc", "VARCHAR"), (150, "#N/A", "VARCHAR"), (600, "3", "BIGINT")],
)
def test_many_columns_of_a_text_are_read(tmp_path, width, cell, kind):
    stored = tmp_path / "wide.csv"
    head = ",".join(f"name{place}" for place in range(width))
    stored.write_text("\n".join([head, *[",".join([cell] * width)] * 5]))

    types, last = fill(tmp_path, stored, Format.TEXT)

    assert types == [kind] * width
    assert set(map(str, last)) == {cell}


def fill_within_the_bounds(sandbox, tmp_path, width):
    """The snapshot of a text with texts, numbers and dates, read as an upload is."""
    stored, snapshot = tmp_path / "wide.csv", tmp_path / "snapshot.duckdb"
    head = [f"name{place}" for place in range(width)]
    rows = [
        ["text", f"{row}", f"{row % 12 + 1}/{row % 28 + 1}/2011 00:00:00"] * (width // 3)
        for row in range(1_000)
    ]
    stored.write_text("\n".join(map(",".join, [head, *rows])))
    upload = Upload("id", stored, stored.name, Format.TEXT)
    sandbox.run_blocking(fill_upload, snapshot, "Sheet", upload, bounds=READING)
    return snapshot


@pytest.mark.security
@pytest.mark.parametrize("width", [75, 120, 291])
def test_many_columns_of_different_types_are_read_within_the_bounds(sandbox, tmp_path, width):
    snapshot = fill_within_the_bounds(sandbox, tmp_path, width)

    with duckdb.connect(str(snapshot), read_only=True) as connection:
        table = connection.sql("FROM Sheet")
        assert list(map(str, table.types)) == ["VARCHAR", "BIGINT", "DATE"] * (width // 3)
        assert len(table.fetchall()) == 1_000


def test_totals_of_many_columns_are_found_within_the_bounds(sandbox, tmp_path):
    stored, snapshot = tmp_path / "wide.csv", tmp_path / "snapshot.duckdb"
    head = ["country", *map(str, range(1960, 2014))]
    rows = [[f"country {row}", *[f"{row}.25"] * 54] for row in range(220)]
    total = ["Total", *[f"{sum(range(220)) + 55}.00"] * 54]
    stored.write_text("\n".join(map(",".join, [head, *rows, total])))
    upload = Upload("id", stored, stored.name, Format.TEXT)

    sandbox.run_blocking(fill_upload, snapshot, "Sheet", upload, bounds=READING)

    with duckdb.connect(str(snapshot), read_only=True) as connection:
        assert connection.sql(
            'SELECT count(*), sum("1960"), sum("2013") FROM Sheet'
        ).fetchall() == [(220, 24145.0, 24145.0)]


@pytest.mark.security
def test_many_columns_are_described_within_the_bounds(sandbox, tmp_path):
    snapshot = fill_within_the_bounds(sandbox, tmp_path, 291)
    tables = sandbox.run_blocking(list_tables, "wide", snapshot, bounds=READING)

    (table,) = sandbox.run_blocking(profile_tables, "wide", snapshot, tables, bounds=READING)

    texts = [column.values for column in table.columns]
    assert texts == ["text", "0 … 999", "2011-01-01 … 2011-12-28"] * 97


def test_many_columns_of_a_workbook_are_read_in_their_order(tmp_path):
    stored = tmp_path / "wide.xlsx"
    book = openpyxl.Workbook()
    book.active.append([f"name{place}" for place in range(150)])
    for number in range(3):
        book.active.append([f"text {number} {place}" for place in range(150)])
    book.save(stored)

    types, last = fill(tmp_path, stored, Format.WORKBOOK)

    assert types == ["VARCHAR"] * 150
    assert last == tuple(f"text 2 {place}" for place in range(150))


def test_too_little_memory_is_told_as_such_and_no_file_is_called_damaged():
    told = in_words(duckdb.OutOfMemoryException("failed to allocate"), Path("copy.xlsx"), "a.xlsx")

    assert told == (
        "Reading the file takes more memory than there is for it. Leave out columns, or split it "
        "into smaller files."
    )
