"""Corrections of uploaded files: each has an effect, or is refused with what to do instead."""

import duckdb
import pytest

from backend.data.corrections import Corrections
from backend.data.errors import CorrectionRefused
from backend.data.files.formats import Format
from backend.data.files.uploads import Upload, fill_upload

PROSE = "A letter.\n\nIt has two sentences, and no table.\n"
OF_TABLES = [
    {"separator": ";"},
    {"quote": ""},
    {"escape": ""},
    {"header_row": 1},
    {"types": {"a": "text"}},
    {"decimal": ","},
]


def fill(tmp_path, content, format_, given, name="a.txt"):
    """The tables of an uploaded file, with their columns."""
    stored = tmp_path / "stored"
    stored.write_bytes(content)
    snapshot = tmp_path / "snapshot.duckdb"
    fill_upload(snapshot, "t", Upload("id", stored, name, format_, Corrections(**given)))
    with duckdb.connect(str(snapshot), read_only=True) as connection:
        columns = "SELECT table_name, list(column_name) FROM duckdb_columns() WHERE NOT internal"
        return dict(connection.execute(f"{columns} GROUP BY 1").fetchall())


@pytest.mark.parametrize("given", OF_TABLES, ids=str)
@pytest.mark.parametrize("kind", [None, "document"])
def test_a_document_refuses_what_concerns_tables_only(tmp_path, given, kind):
    with pytest.raises(CorrectionRefused, match=r"no .*to be read as a table, or leave this out"):
        fill(tmp_path, PROSE.encode(), Format.DOCUMENT, given | {"kind": kind}, "a.md")


@pytest.mark.parametrize("given", [{"separator": ""}, *OF_TABLES], ids=str)
def test_so_does_a_text_that_was_corrected_to_be_a_document(tmp_path, given):
    with pytest.raises(CorrectionRefused, match="which has no"):
        fill(tmp_path, PROSE.encode(), Format.TEXT, given | {"kind": "document"})


def test_a_text_that_is_found_to_be_a_document_refuses_a_decimal_mark(tmp_path):
    with pytest.raises(CorrectionRefused, match="which has no decimal mark"):
        fill(tmp_path, PROSE.encode(), Format.TEXT, {"decimal": ","})


def test_a_single_column_makes_a_text_a_table(tmp_path):
    tables = fill(tmp_path, b"name\nAnna\nBert\n", Format.TEXT, {"separator": ""})

    assert tables == {"t": ["name"]}


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.md", "a.xls"])
def test_an_encoding_that_the_text_does_not_have_is_refused(tmp_path, name, encoding):
    format_ = Format.DOCUMENT if name == "a.md" else Format.TEXT
    page = "<table><tr><td>für<td>b<tr><td>1<td>2</table>".encode("cp1252")

    with pytest.raises(CorrectionRefused, match=f"The file is not {encoding}"):
        fill(tmp_path, page, format_, {"encoding": encoding}, name)


def test_a_document_that_is_corrected_to_be_a_table_takes_them(tmp_path):
    given = {"kind": "table", "separator": ";", "decimal": ",", "types": {"a": "number"}}

    assert fill(tmp_path, b"a;b\n1,5;x\n", Format.DOCUMENT, given, "a.md") == {"t": ["a", "b"]}


def test_a_decimal_mark_alone_is_refused_where_numbers_are_numbers_already(tmp_path):
    content = b'[{"a": "1,5"}]'

    with pytest.raises(CorrectionRefused, match="Choose such a type for a column, too"):
        fill(tmp_path, content, Format.JSON, {"decimal": ","})
    with pytest.raises(CorrectionRefused, match="Choose such a type for a column, too"):
        fill(tmp_path, content, Format.JSON, {"decimal": ",", "types": {"a": "text"}})
    with pytest.raises(CorrectionRefused, match="Choose such a type for a column, too"):
        fill(tmp_path, content, Format.PARQUET, {"decimal": ","})
    (tmp_path / "snapshot.duckdb").unlink(missing_ok=True)
    both = {"decimal": ",", "types": {"a": "number"}}
    assert fill(tmp_path, content, Format.JSON, both) == {"t": ["a"]}
