"""A stored table keeps the number formats of its columns, with its rows, in its file."""

import duckdb
import openpyxl

from backend.artifacts.forms import write_xlsx
from backend.data.files.parquet import read_page, write_relation, write_rows
from backend.data.results import Column, Limits, Table


def test_a_stored_table_has_the_formats_of_its_query(tmp_path):
    place = tmp_path / "t.parquet"
    with duckdb.connect() as connection:
        found = connection.sql("SELECT 'a' AS k, 0.07::DOUBLE AS share, 5::HUGEINT AS n")
        write_relation(found, place, ["", "0.00%", "0"])

    page = read_page(place, 0, Limits())

    assert [column.format for column in page.columns] == ["", "0.00%", "0"]
    assert page.rows == [["a", 0.07, 5]]


def test_so_has_one_of_rows_in_memory_and_its_workbook(tmp_path):
    columns = (Column("k", "VARCHAR"), Column("x", "DOUBLE", "[$€]#,##0.00"))
    write_rows(Table(columns, [["a", 1.5]]), tmp_path / "t.parquet")

    write_xlsx(tmp_path / "t.parquet", "T", 1, tmp_path / "t.xlsx")

    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    assert (sheet["B2"].value, sheet["B2"].number_format) == (1.5, "[$€]#,##0.00")
