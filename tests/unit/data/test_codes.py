"""Codes that look like numbers stay text, so that different ones stay different."""

import duckdb
import pytest

from backend.data.files.formats import Format
from backend.data.files.uploads import Upload, fill_upload

NACE = ["01.1", "01.10", "01.11", "10.1", "10.10"]


def read(tmp_path, cells):
    """The values of a column with these cells."""
    stored = tmp_path / "a.csv"
    stored.write_text("\n".join(["id;value", *(f"{n};{cell}" for n, cell in enumerate(cells))]))
    snapshot = tmp_path / "snapshot.duckdb"
    fill_upload(snapshot, "t", Upload("id", stored, "a.csv", Format.TEXT))
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        return [value for (value,) in connection.sql("SELECT value FROM t").fetchall()]


@pytest.mark.parametrize(
    "cells", [NACE, ["01.2024", "02.2024"], ["08.30", "17.45"], ["01,5", "12,5"], ["01.02", "1.5"]]
)
def test_a_zero_before_another_digit_makes_a_code(tmp_path, cells):
    assert read(tmp_path, cells) == cells


@pytest.mark.parametrize(
    "cells", [["0.5", "1.25"], ["-0,5", "0,25"], ["0", "10.50"], [".5", "1.5"]]
)
def test_a_zero_before_the_decimal_mark_does_not(tmp_path, cells):
    assert read(tmp_path, cells) == [float(cell.replace(",", ".")) for cell in cells]
