"""Bank statements in MT940: debits, credits and reversals, as banks of several countries write."""

from datetime import date

import duckdb
import pytest

from backend.data.corrections import Corrections
from backend.data.errors import SourceUnusable
from backend.data.files.statements.reading import read_statement
from tests.unit.data.files.uploading import fill

GERMAN = """:20:STARTUMSE
:25:10010010/1234567890
:28C:00002/001
:60F:C260201EUR949,75
:61:2602020202D50,25NTRFNONREF//1
:86:166?00SEPA?20EREF+E2E-1?21SVWZ+Miete Jan?22uar?30DEUTDEFF?31DE02120300000000202051?32Änna H
aus?33GmbH
:61:2602030203CR1200,00NTRFREF123//ABC
:86:Plain text of a bank
over two lines
:61:2602040204RC10,00NCHKX
:61:2602050205RD1,NCHKNONREF
:62F:C260228EUR2090,50
:86:D000002D60,25C1201,00
-XXX
"""
ENTRIES = [
    (date(2026, 2, 2), -50.25, "Änna Haus GmbH", "DE02120300000000202051", "Miete Januar", "E2E-1"),
    (date(2026, 2, 3), 1200.0, None, None, "Plain text of a bank over two lines", "REF123"),
    (date(2026, 2, 4), -10.0, None, None, None, "X"),
    (date(2026, 2, 5), 1.0, None, None, None, None),
]
SWIFT, DUTCH = "{1:F01BANKDEFFXXXX}{2:I940X}{4:\n", "ABNANL2A\n940\nABNANL2A\n"


def entries(tmp_path, content):
    """Day, amount, party, account, text and reference of each entry."""
    rows = fill(tmp_path, content, {}, name="a.sta", table="entries")
    return [(row[2], row[4], *row[6:10]) for row in rows]


@pytest.mark.parametrize("before", ["", SWIFT, DUTCH, "\\ufeff", "\\n"])
@pytest.mark.parametrize("end", ["\\n", "\\r\\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_entries_have_signs_parties_and_texts(tmp_path, before, end, encoding):
    text = before.encode().decode("unicode_escape") + GERMAN
    content = text.replace("\n", end.encode().decode("unicode_escape"))
    if encoding == "cp1252":
        content = content.lstrip("\ufeff")

    found = entries(tmp_path, content.encode(encoding))

    assert found == ENTRIES


def test_a_question_mark_in_a_text_begins_no_part(tmp_path):
    asked = GERMAN.replace("Miete Jan?22uar", "Miete? 2?22026?")

    assert entries(tmp_path, asked)[0][4] == "Miete? 2026?"


def test_each_statement_of_a_file_has_its_balances(tmp_path):
    march = GERMAN.replace("00002", "00003").replace("F:C2602", "F:C2603")

    rows = fill(tmp_path, GERMAN + march, {}, name="a.sta", table="statement_balances")

    assert [(row[1], row[2], row[3], row[4]) for row in rows] == [
        ("00002/001", "opening", date(2026, 2, 1), 949.75),
        ("00002/001", "closing", date(2026, 2, 28), 2090.5),
        ("00003/001", "opening", date(2026, 3, 1), 949.75),
        ("00003/001", "closing", date(2026, 3, 28), 2090.5),
    ]


def test_a_statement_of_the_same_number_a_year_later_is_another(tmp_path):
    later = (
        GERMAN.replace(":60F:C26", ":60F:C27").replace("949,75", "0,").replace("2090,50", "1140,75")
    )
    path = tmp_path / "a.csv"
    path.write_text(GERMAN + later)
    with duckdb.connect() as connection:
        understood = read_statement(connection, path, "MT940", Corrections())["entries"]

    assert understood.form == [
        "a bank statement (MT940)",
        "UTF-8",
        "2 statements",
        "details that have no column are left out",
    ]
    assert understood.warnings == []


def test_what_is_no_valid_statement_is_refused_with_its_line(tmp_path):
    with pytest.raises(SourceUnusable, match="The statement in line 16 is no valid MT940"):
        entries(tmp_path, GERMAN + GERMAN.replace(":61:2602020202D50,25", ":61:someday"))
