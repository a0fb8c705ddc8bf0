"""Uploaded files whose content, format and corrections a test chooses."""

import duckdb
import openpyxl

from backend.data.corrections import Corrections
from backend.data.files.formats import Format
from backend.data.files.uploads import Upload, fill_upload


def fill(tmp_path, content, given, format_=Format.TEXT, name="a.csv", table="Sheet"):
    """The rows of an uploaded file."""
    stored = tmp_path / name
    stored.write_bytes(content if isinstance(content, bytes) else content.encode())
    snapshot = tmp_path / "snapshot.duckdb"
    fill_upload(snapshot, "Sheet", Upload("id", stored, name, format_, Corrections(**given)))
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        return connection.sql(f"FROM {table}").fetchall()


def workbook(tmp_path, rows):
    """The bytes of a workbook with these rows."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "made.xlsx")
    return (tmp_path / "made.xlsx").read_bytes()
