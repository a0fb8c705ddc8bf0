"""Files that change while they are read, large ones, and what readers say of slips."""

import asyncio
import csv
import io
import os
import time
import zipfile
from contextlib import suppress
from itertools import count

import duckdb
import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.data.errors import SourceUnusable
from backend.data.files.readers import copy_standing_still
from backend.data.reading.delimited import read_delimited
from backend.data.results import Limits
from backend.data.sources import Sources

ROWS = 100_000


def change(path, text):
    """Write the file anew, long ago: what has just changed is waited for."""
    path.write_text(text)
    os.utime(path, ns=(1, 1))


def write_workbook(path, rows):
    """A workbook of one sheet, in a moment: openpyxl takes half a minute for 100,000 rows."""
    plain = path.with_suffix(".plain")
    openpyxl.Workbook().save(plain)
    with (
        zipfile.ZipFile(plain) as source,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            if not name.startswith("xl/worksheets/"):
                target.writestr(name, source.read(name))
        with target.open("xl/worksheets/sheet1.xml", "w") as part:
            part.write(
                b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
            )
            for number, cells in enumerate(rows, 1):
                part.write(f'<row r="{number}">{"".join(cells)}</row>'.encode())
            part.write(b"</sheetData></worksheet>")
    plain.unlink()


def text_cell(place, text):
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def large_sheet():
    yield [
        text_cell(f"{letter}1", name)
        for letter, name in zip("ABC", ("n", "x", "name"), strict=True)
    ]
    for n in range(1, ROWS + 1):
        place = n + 1
        value = f'<c r="B{place}"><f>A{place}/2</f><v>{n / 2}</v></c>'
        if n == ROWS:
            value = f'<c r="B{place}" t="e"><f>A{place}/0</f><v>#DIV/0!</v></c>'
        yield [f'<c r="A{place}"><v>{n}</v></c>', value, text_cell(f"C{place}", f"name {n % 100}")]


def test_a_file_that_changed_while_it_was_copied_is_copied_again(tmp_path):
    path, copy, attempts = tmp_path / "a.csv", tmp_path / "copy", count(1)
    change(path, "a\n1\n")

    def take(source, target):
        target.write_bytes(source.read_bytes()[:3])  # what is there of the old file
        if next(attempts) < 3:
            change(path, path.read_text() + "22\n")
        else:
            target.write_bytes(source.read_bytes())

    copy_standing_still(path, copy, take)

    assert copy.read_text() == path.read_text() == "a\n1\n22\n22\n"


def test_a_file_that_never_stands_still_is_not_read_but_said_to_be_written(tmp_path):
    path = tmp_path / "a.csv"
    change(path, "a\n")

    def take(source, target):
        change(path, path.read_text() + "1\n")

    with pytest.raises(SourceUnusable, match="being written"):
        copy_standing_still(path, tmp_path / "copy", take)


@pytest.mark.chaos
def test_a_workbook_of_100_000_rows_answers_the_first_question(tmp_path, sandbox):
    (tmp_path / "sources").mkdir()
    write_workbook(tmp_path / "sources" / "large.xlsx", large_sheet())
    sources = Sources(tmp_path, {}, sandbox)
    sql = "SELECT count(*), count(x), sum(x), count(DISTINCT name) FROM large.sheet"

    table = asyncio.run(sources.query("asker", "large", sql, Limits()))
    (described,) = asyncio.run(sources.describe("asker", "large")).tables

    assert table.rows == [[ROWS, ROWS - 1, sum(n / 2 for n in range(1, ROWS)), 100]]
    assert "1 cell holds an error and is NULL: B100001 (#DIV/0!)." in described.warnings


def test_a_workbook_whose_cells_are_far_apart_is_refused_with_its_size(tmp_path, sandbox):
    (tmp_path / "sources").mkdir()
    rows = [[text_cell("A1", "a")], ['<c r="XFD1048576"><v>1</v></c>']]
    write_workbook(tmp_path / "sources" / "far.xlsx", rows)
    sources = Sources(tmp_path, {}, sandbox)

    with pytest.raises(SourceUnusable, match="1,048,576 rows and 16,384 columns"):
        asyncio.run(sources.query("asker", "far", "FROM far.sheet", Limits()))


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        yield connection


def read(connection, path, content):
    """The rows of the text file, and all that is said of it."""
    path.write_bytes(content)
    understood = read_delimited(connection, "t", path)
    rows = connection.sql("FROM t").fetchall()
    connection.execute("DROP TABLE t")
    return rows, "\n".join([*understood.form, *understood.warnings])


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cf"]))
CELLS = st.builds("w{}".format, WORDS) | st.just('say "x", y;z') | st.just("two\nlines")


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.integers(0, 9)), min_size=3, max_size=12),
    separator=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_a_program_writes_is_read_back(
    rows, separator, line_end, encoding, connection, tmp_path
):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, lineterminator=line_end)
    writer.writerows([("first", "second", "number"), *rows])

    found, _ = read(connection, tmp_path / "t.csv", file.getvalue().encode(encoding))

    assert found == rows


@pytest.mark.chaos
def test_a_regular_and_an_irregular_file_are_read_alike(connection, tmp_path):
    lines = [f"{n};name {n};{n},5;{n % 28 + 1:02}.08.24" for n in range(5_000)]
    text = "n;name;x;day\n" + "\n".join(lines)

    regular, _ = read(connection, tmp_path / "t.csv", text.encode())
    irregular, said = read(connection, tmp_path / "t.csv", f"{text}\n7;short\n".encode())

    assert irregular[:-1] == regular
    assert len(regular) == 5_000
    assert "fewer cells than the header; those that are missing are NULL (line 5,002)" in said


def test_numbers_that_a_float_cannot_hold_are_said_to_be_rounded(connection, tmp_path):
    path = tmp_path / "t.csv"
    _, long = read(connection, path, b"id,amount\nA,12345678901234567.89\nB,1.50\n")
    _, short = read(connection, path, b"id,amount\nA,123456789012345.67\nB,1.50\n")

    assert "rounded: numbers with more than 15 digits before the decimal mark" in long
    assert "rounded" not in short


def test_one_is_counted_in_the_singular(connection, tmp_path):
    lines = [f"{day:02}.08.2026;{day},5" for day in range(1, 31)]
    text = "\n".join(["day;x", *lines, "31.08.2026;open", "day;x", "Summe;465,0"])

    _, said = read(connection, tmp_path / "t.csv", text.encode())

    assert "day: 1 word among dates is NULL: 'Summe'" in said
    assert "x: 1 word among numbers is NULL: 'open'" in said
    assert "The header stands there once more; this line was left out." in said


@pytest.mark.parametrize(
    "content",
    [
        b'a,b\n' + b'1,"x\n' * 20_000,
        b'a,b\n' + b'1,"x\n2,y"\n3,z"\n' * 5_000,
        b'"' * 200_000,
        b"a,b\n" + b"," * 100_000,
        b"a" * 3_000_000 + b",b\n1,2\n",
        b"a,b\n" + b"1,2,3\n1\n" * 20_000,
        b";,\t|" * 50_000,
    ],
    ids=["quotes", "quotes in pairs", "only quotes", "wide line", "long name", "ragged", "marks"],
)  # fmt: skip
def test_what_is_no_table_costs_little_and_is_read_or_refused(connection, tmp_path, content):
    began = time.process_time()
    with suppress(SourceUnusable):
        read(connection, tmp_path / "t.csv", content)
    connection.execute("DROP TABLE IF EXISTS t")

    assert time.process_time() - began < 60
