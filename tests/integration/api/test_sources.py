"""Sources over the API: what agents can query, and what was understood of a file."""

from pathlib import Path

import pytest

from tests.integration.scenes import check_problem
from tests.stack import Stack

GERMAN = """Umsätze 2026

Datum;Konto;Betrag
31.08.24;0100;1.234,56
30.09.24;0200;7,00
Summe;;1.241,56
"""


@pytest.fixture
def source_stack(own_stack: Stack) -> Stack:
    folder = Path(own_stack.environment["DATA_DIR"]) / "sources"
    folder.mkdir(parents=True)
    (folder / "Umsätze 2026.csv").write_bytes(GERMAN.encode("cp1252"))
    (folder / "broken.xlsx").write_bytes(b"no workbook at all")
    return own_stack


def test_sources_are_listed_and_each_says_how_it_was_understood(source_stack: Stack) -> None:
    listed = source_stack.client.get("/sources").json()
    by_name = {item["name"]: item for item in listed["items"]}
    found = source_stack.client.get("/sources/umsätze_2026").json()

    assert listed["left_out"] == 0
    assert set(by_name) == {"fi", "bpc", "umsätze_2026", "broken"}
    assert "cannot be read" in by_name["broken"]["problem"]
    assert by_name["umsätze_2026"]["tables"] == 1
    assert by_name["umsätze_2026"]["warnings"] >= 1
    (table,) = found["tables"]
    assert {c["name"]: c["type"] for c in table["columns"]} == {
        "Datum": "DATE",
        "Konto": "VARCHAR",
        "Betrag": "DOUBLE",
    }
    assert table["rows"] == 2
    said = "; ".join(table["understood"])
    assert "windows-1252" in said.lower()
    assert "separated by semicolons" in said
    assert any("Summe" in warning for warning in table["warnings"])


def test_tables_of_a_source_come_in_pages(source_stack: Stack) -> None:
    first = source_stack.client.get("/sources/fi", params={"limit": 2}).json()
    names = [table["name"] for table in first["tables"]]
    offset = first["next_offset"]
    while offset is not None:
        page = source_stack.client.get("/sources/fi", params={"limit": 2, "offset": offset}).json()
        names += [table["name"] for table in page["tables"]]
        offset = page["next_offset"]

    assert len(names) == len(set(names)) == first["table_count"]


def test_an_unknown_or_unreadable_source_is_a_problem_that_says_so(source_stack: Stack) -> None:
    unknown = check_problem(source_stack.client.get("/sources/brocken"), 404)
    broken = check_problem(source_stack.client.get("/sources/broken"), 422)

    assert "Did you mean 'broken'?" in unknown["detail"]
    assert "broken cannot be read" in broken["detail"]
