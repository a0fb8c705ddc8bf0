"""Totals among the rows of a table: left out if they are the sums of others, otherwise kept."""

import duckdb
import pytest

from backend.data.reading.delimited import read_delimited
from backend.files.words import summary

PIVOT = """Region;Product;Amount;Pieces
North;a;10,5;1
North;b;20;2
North Total;;30,5;3
South;c;5;4
South Total;;5;4
Grand Total;;35,5;7
"""
LABELS = [
    "Gesamtergebnis", "Gesamtsumme", "Grand Total", "Total général", "Totale", "Totale complessivo",
    "Total general", "Total geral", "Suma końcowa", "Razem", "Итого", "Общий итог", "合计",
    "TOTAL:", "Totaal", "Eindtotaal", "Celkem", "Genel Toplam", "Insgesamt", "* Summe *", "Sum",
    "Somma", "Som",
]  # fmt: skip
SUBTOTALS = [
    "Subtotal", "Sub-total", "Zwischensumme", "Teilergebnis", "Sous-total", "Subtotale",
    "Subtotaal", "{} Total", "Total {}", "Summe {}", "{} Ergebnis", "{} gesamt",
    "Totale {}", "Total for {}:", "Sum of {}", "Som van {}", "Som: {}",
    "Grand total {}",
]  # fmt: skip


def read(tmp_path, text):
    """The rows of the file, what is warned of, and the facts."""
    path = tmp_path / "a.csv"
    path.write_text(text)
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        understood = read_delimited(connection, "t", path)
        return connection.sql("FROM t").fetchall(), understood.warnings, understood.facts


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("line", ["{};;6", ";{};6", "9999;{};6"])
def test_a_total_is_left_out_by_its_name_in_many_languages(tmp_path, label, line):
    text = f"key;name;x\n1;a;1\n2;b;2\n3;c;3\n{line.format(label)}\n"

    rows, warnings, facts = read(tmp_path, text)

    assert rows == [(1, "a", 1), (2, "b", 2), (3, "c", 3)]
    assert [warning for warning in warnings if "line 5" in warning.lower()] == [
        f"Line 5 is the total of the others and was left out: "
        f"'{' | '.join(cell for cell in line.format(label).split(';') if cell)}'."
    ]
    assert facts["totals_count"] == 1
    assert facts["totals"][0]["line"] == 5


def test_the_totals_of_a_pivot_table_are_left_out(tmp_path):
    rows, warnings, facts = read(tmp_path, PIVOT)

    assert rows == [("North", "a", 10.5, 1), ("North", "b", 20, 2), ("South", "c", 5, 4)]
    assert warnings == [
        "3 lines are totals of lines above them and were left out: line 4: 'North Total | 30,5 | "
        "3', line 6: 'South Total | 5 | 4', line 7: 'Grand Total | 35,5 | 7'."
    ]
    assert facts["totals_count"] == 3
    assert summary([{"facts": facts}]).endswith("; three totals skipped.")


@pytest.mark.parametrize("label", SUBTOTALS)
@pytest.mark.parametrize("line", ["{};;{}", ";{};{}"])
def test_so_are_subtotals_by_their_names(tmp_path, label, line):
    def subtotal(group, amount):
        return line.format(label.format(group), amount)

    lines = ["key;name;x", "1;a;1", "1;b;2", subtotal("North", 3), "2;c;4", subtotal("South", 4)]

    rows, warnings, _ = read(tmp_path, "\n".join([*lines, "Total;;7", ""]))

    assert [row[2] for row in rows] == [1, 2, 4]
    assert warnings[0].startswith("3 lines are totals")


def test_totals_of_totals_are_the_sums_of_the_rows_of_all_their_groups(tmp_path):
    lines, total = ["Region;Cost centre;Amount"], 0
    for region in range(3):
        for centre in range(30):
            lines += [f"R{region};C{centre};{n}" for n in range(1, 5)]
            lines += [f";Total C{centre};10"]
        lines += [f"Total R{region};;300"]
        total += 300

    rows, warnings, _ = read(tmp_path, "\n".join([*lines, f"Grand total;;{total}", ""]))

    assert len(rows) == 360
    assert sum(row[2] for row in rows) == total
    assert warnings[0].startswith("94 lines are totals of lines above them and were left out")


def test_all_are_kept_if_one_is_no_sum(tmp_path):
    rows, warnings, facts = read(tmp_path, PIVOT.replace("South Total;;5;4", "South Total;;6;5"))

    assert len(rows) == 6
    assert warnings == [
        "3 rows call themselves totals, as 'Grand Total | 35,5 | 7' (line 7): kept; a sum over all "
        "rows may count amounts twice."
    ]
    assert "totals" not in facts


@pytest.mark.parametrize(
    "text",
    [
        "name;x\nShell;5\nTotal Energies;5\nEsso;7\n",
        "name;x\nShell;5\nTotal Energies;5\n",
        "name;x\nShell;5\nEsso;7\nTotal Energies;11\n",
        "name;x;pieces;price\nShell;5;1;2\nEsso;7;1;3\nTotal Energies;80;2;4\nAral;3;1;4\n",
        "name;x\nColgate Total;3\nElmex;3\n",
        "name;x;errors\nShell;5;0\nEsso;7;0\nTotal;9;0\n",
    ],
)
def test_a_company_that_is_named_total_is_kept_and_reported(tmp_path, text):
    rows, warnings, _ = read(tmp_path, text)

    assert len(rows) == len(text.splitlines()) - 1
    assert "1 row calls itself a total" in warnings[0]


def test_it_is_a_row_like_others_where_the_total_says_so(tmp_path):
    rows, warnings, _ = read(tmp_path, "name;x\nShell;5\nTotal Energies;9\nEsso;7\nTotal;21\n")

    assert [row[0] for row in rows] == ["Shell", "Total Energies", "Esso"]
    assert warnings[0] == "Line 5 is the total of the others and was left out: 'Total | 21'."
    assert "1 row calls itself a total, as 'Total Energies | 9' (line 3): kept" in warnings[1]


def test_a_key_before_the_label_is_no_figure(tmp_path):
    text = "centre;text;x\n4711;a;1\n4711;b;2\n4711;Summe;3\n4712;c;4\n4712;Summe;4\n"

    rows, *_ = read(tmp_path, text)

    assert rows == [(4711, "a", 1), (4711, "b", 2), (4712, "c", 4)]


def test_totals_by_year_are_rows_of_statistics(tmp_path):
    text = "geo,sex,year,value\n" + "".join(
        f"DE,{sex},{year},{value}\n"
        for year in (2024, 2025)
        for sex, value in (("Male", 10), ("Female", 12), ("Total", 22))
    )

    rows, warnings, _ = read(tmp_path, text)

    assert len(rows) == 6
    assert warnings[0].startswith("2 rows call themselves totals")


def test_a_total_above_its_rows_is_left_out(tmp_path):
    rows, _, _ = read(tmp_path, "name;x\nTotal;6\na;1\nb;2\nc;3\n")

    assert rows == [("a", 1), ("b", 2), ("c", 3)]


@pytest.mark.parametrize(
    "cell",
    [
        "Totally",
        "Summer",
        "Subtotalling",
        "Resume",
        "Gesamtschule",
        "Sommelier",
        "Crème totale 50",
        "Som Tam",
    ],
)
def test_other_words_are_no_totals(tmp_path, cell):
    rows, warnings, _ = read(tmp_path, f"name;x\na;1\nb;2\n{cell};3\n")

    assert len(rows) == 3
    assert not warnings


def test_a_day_before_a_name_makes_no_total(tmp_path):
    text = "Tag;Empfänger;Betrag\n01.02.2026;Total Tankstelle;-50,00\n15.02.2026;Miete;-900,00\n"

    rows, warnings, _ = read(tmp_path, text)

    assert len(rows) == 2
    assert not warnings


def test_more_totals_than_can_be_checked_are_counted(tmp_path):
    text = "name;x\n" + "a;1\nTotal;1\n" * 6_000

    rows, warnings, _ = read(tmp_path, text)

    assert len(rows) == 12_000
    assert warnings[0].startswith("6,000 rows call themselves totals, as 'Total | 1' (line 10,001)")
