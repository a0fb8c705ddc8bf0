"""Damaged records: all other rows stay right, and the damaged line is read rightly or named."""

import csv
import io
import re

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.data.corrections import NONE, Corrections
from backend.data.reading.delimited import read_delimited
from backend.data.reading.dialect import Dialect
from backend.data.reading.records import Records
from backend.data.reading.splitting import Splitter

HEADER = ["code", "name", "count", "note"]
WORDS = ["oak", "oak, waxed", 'round 48"', 'say "hi", now', "C:\\Data\\", "", "two\nlines", "a; b"]
CODES = st.integers(1, 99).map("k{}".format)
NOTES = st.sampled_from(WORDS)
ROWS = st.lists(st.tuples(CODES, NOTES, st.integers(0, 9), NOTES), min_size=6, max_size=12)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        yield connection


def read(connection, folder, content, corrections=NONE):
    """The columns, the rows as texts, and all that is said of the text."""
    path = folder / "t.csv"
    path.write_bytes(content.encode())
    understood = read_delimited(connection, "t", path, corrections)
    relation = connection.sql("FROM t")
    columns = relation.columns
    rows = [tuple("" if cell is None else str(cell) for cell in row) for row in relation.fetchall()]
    connection.execute("DROP TABLE t")
    return columns, rows, "\n".join([*understood.form, *understood.warnings])


def written(row, quoting=csv.QUOTE_MINIMAL):
    """A record as a program writes it."""
    file = io.StringIO(newline="")
    csv.writer(file, quoting=quoting, lineterminator="\n").writerow(row)
    return file.getvalue()


def without_opening_quote(line):
    return line.replace(',"', ",", 1)


def without_closing_quote(line):
    return re.sub(r'"(,|\n$)', r"\1", line, count=1)


def with_quote_before_a_cell(line):
    return line.replace(",", ',"', 1)


def with_text_behind_a_quote(line):
    return re.sub(r'(?<!")"(,|\n$)', r'" x\1', line, count=1)


def with_single_quotes_inside(line):
    return line.replace('""', '"')


def with_a_cell_more(line):
    return "," + line


def with_a_comma_more(line):
    return line.replace(",", ",,", 1)


def with_a_cell_less(line):
    return line.replace(",", "", 1)


def with_semicolons(line):
    return line.replace(",", ";")


DAMAGES = [
    without_opening_quote,
    without_closing_quote,
    with_quote_before_a_cell,
    with_text_behind_a_quote,
    with_single_quotes_inside,
    with_a_cell_more,
    with_a_comma_more,
    with_a_cell_less,
    with_semicolons,
]


def check(rows, victim, damage, quoting, connection, folder):
    """Damage a row: all others are right, and it is right or its line is named."""
    rows[victim] = tuple(str(cell).replace("\n", " ") for cell in rows[victim])
    whole = [tuple(map(str, row)) for row in rows]
    lines = [written(HEADER), *(written(row, quoting) for row in rows)]
    number = sum(line.count("\n") for line in lines[: victim + 1]) + 1
    lines[victim + 1] = damage(lines[victim + 1])

    columns, found, said = read(connection, folder, "".join(lines))

    assert columns[:4] == HEADER, said
    cells = [row[:4] for row in found]
    assert cells[:victim] == whole[:victim], said
    assert cells[victim + 1 :] == whole[victim + 1 :], said
    is_right = found[victim][:4] == whole[victim] and not any(found[victim][4:])
    assert is_right or re.search(rf"line {number}\b", said), said


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    rows=ROWS,
    victim=st.integers(1, 4),
    damage=st.sampled_from(DAMAGES),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
)
def test_one_damaged_record_leaves_all_others_right_and_is_named_or_read_rightly(
    rows, victim, damage, quoting, connection, tmp_path
):
    check(rows, victim, damage, quoting, connection, tmp_path)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ('a,"b, c",d', ["a", "b, c", "d"]),
        ('a,"b""",d', ["a", 'b"', "d"]),
        ('a,"",d', ["a", "", "d"]),
        ('a, "b, c" ,d', ["a", "b, c", "d"]),
        ('a,5" pipe,d', ["a", '5" pipe', "d"]),
        ('a,"b\\","d"', ["a", "b\\", "d"]),
    ],
)
def test_a_line_is_split_as_the_standard_says(line, cells):
    found = Splitter(Dialect(",")).split(line)

    assert (found.cells, found.is_sound, found.is_open) == (cells, True, False)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ('A1,"Table, round 48"","oak, waxed"', ["A1", 'Table, round 48"', "oak, waxed"]),
        ('A1,"Table, 5" x","oak, waxed"', ["A1", 'Table, 5" x', "oak, waxed"]),
        ('A1,""Table, round","oak"', ["A1", '"Table, round', "oak"]),
        ('A1,"Table, round,"oak"', ["A1", '"Table, round', "oak"]),
        ('A1,Table, round","oak"', ["A1", 'Table, round"', "oak"]),
        ('"A1,Table,"oak"', ['"A1', "Table", "oak"]),
        ('A1,"oak"', None),
    ],
)
def test_a_damaged_line_is_read_with_the_fewest_faults_that_give_its_width(line, cells):
    assert Splitter(Dialect(",")).mended(line, 3) == cells


@pytest.mark.parametrize(
    "rest", ["2,y\n" * 3_000, '2,""\n' * 3_000, '2,"y"\n' * 3_000, '2,"y\n' * 3_000]
)
def test_an_open_quote_swallows_no_row(rest):
    records = Records(
        ['1,"x\n', *rest.splitlines(keepends=True)], Splitter(Dialect(",")), Dialect(","), 2
    )

    found = list(records)

    assert [line for line, _ in found] == list(range(1, 3_002))
    assert found[0][1] == ["1", '"x']
    assert 1 in records.slips.damaged.lines


def test_what_was_guessed_of_quotes_can_be_corrected(connection, tmp_path):
    text = 'a,b,c\n"C:\\","x",1\n"say \\"hi\\", now","y",2\n"5\\" pipe","z",3\n'

    _, guessed, said = read(connection, tmp_path, text)
    _, doubled, _ = read(connection, tmp_path, text, Corrections(escape=""))
    _, bare, _ = read(connection, tmp_path, text, Corrections(quote=""))

    assert guessed[1:] == [('say "hi", now', "y", "2"), ('5" pipe', "z", "3")]
    assert "a backslash before a quote escapes it" in said
    assert doubled[0] == ("C:\\", "x", "1")
    assert bare[0][:3] == ('"C:\\"', '"x"', "1")


def test_more_damaged_lines_than_are_shown_are_counted_and_named_up_to_twenty(connection, tmp_path):
    damaged = "".join(f'"k{n}" x,"a, b"\n' for n in range(30))
    sound = "".join(f'k{n},"a, b"\n' for n in range(40))

    _, rows, said = read(connection, tmp_path, f"code,note\n{sound}{damaged}")

    assert len(rows) == 70
    assert "30 lines have quotes out of place" in said
    assert "line 42:" in said
    assert "line 61, …" in said
    assert "line 62" not in said
