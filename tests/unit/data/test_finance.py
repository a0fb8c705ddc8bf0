"""The bundled finance data: the same everywhere, sound, and different where it should be."""

from decimal import Decimal

import duckdb
import pytest

from backend.data.differences import Thresholds, compare, normal_key
from backend.data.finance.build import build_finance

KEYS = ("fiscal_year", "fiscal_period", "company_code", "cost_centre", "group_account")


def open_finance(folder):
    connection = duckdb.connect()
    for name in ("fi", "bpc"):
        connection.execute(f"ATTACH '{folder}/{name}.duckdb' AS {name} (READ_ONLY)")
    return connection


def sums(connection, table, condition):
    rows = connection.execute(
        f"SELECT {', '.join(KEYS)}, sum(amount_group) FROM {table} WHERE {condition} GROUP BY ALL"
    ).fetchall()
    return {normal_key(row[:-1]): row[-1] for row in rows}


@pytest.fixture(scope="module")
def finance(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finance")
    build_finance(folder)
    with open_finance(folder) as connection:
        yield connection


@pytest.fixture(scope="module")
def differences(finance):
    left = sums(finance, "fi.totals", "true")
    right = sums(finance, "bpc.figures", "version = 'ACTUAL'")
    found = compare(left, right, Thresholds(Decimal("0.01")), KEYS)
    return [d for d in found if d.amount]


def test_two_builds_are_equal(finance, tmp_path):
    build_finance(tmp_path)
    digest = "SELECT sum(hash(t)::HUGEINT), count(*) FROM {} t"

    with open_finance(tmp_path) as again:
        for table in ("fi.documents", "bpc.figures", "fi.exchange_rates"):
            question = digest.format(table)
            assert again.execute(question).fetchall() == finance.execute(question).fetchall()


def test_documents_balance_and_are_dated_within_their_period(finance):
    ((documents,),) = finance.execute("SELECT count(*) // 2 FROM fi.documents").fetchall()
    unbalanced = finance.execute(
        "SELECT 1 FROM fi.documents GROUP BY company_code, fiscal_year, document_number "
        "HAVING sum(amount_group) <> 0 OR sum(amount_local) <> 0 OR count(*) <> 2"
    ).fetchall()
    misdated = finance.execute(
        "SELECT 1 FROM fi.documents WHERE year(posting_date) <> fiscal_year "
        "OR month(posting_date) <> fiscal_period OR document_date > posting_date "
        "OR posting_date > entry_date"
    ).fetchall()

    assert documents > 20_000
    assert not unbalanced
    assert not misdated


def test_each_cost_centre_has_budget_forecast_actuals_and_somebody_responsible(finance):
    rows = finance.execute(
        "SELECT c.cost_centre, c.responsible, count(DISTINCT (version, fiscal_year)) "
        "FROM fi.cost_centres c JOIN bpc.figures USING (cost_centre) GROUP BY ALL"
    ).fetchall()

    assert len(rows) == 16
    assert all(responsible and kinds == 6 for _, responsible, kinds in rows)


def test_the_comparison_finds_the_known_differences_and_no_others(differences):
    def found(test):
        return {d.key for d in differences if test(d)}

    late = found(lambda d: "offset by fiscal_period" in d.hint)
    mapped = found(lambda d: "offset by group_account" in d.hint)
    missing = found(lambda d: "offset by company_code" in d.hint)
    sign = found(lambda d: d.hint == "opposite sign")
    rounding = found(lambda d: d.key[2] == "3000" and abs(d.amount) <= Decimal("0.5"))
    translated = found(lambda d: d.key[:3] == ("2026", "2", "2000"))

    assert late == {
        ("2026", "9", "1000", "CC-1001", "53000"), ("2026", "10", "1000", "CC-1001", "53000"),
        ("2025", "6", "2000", "CC-2002", "56000"), ("2025", "7", "2000", "CC-2002", "56000"),
    }  # fmt: skip
    assert mapped == {
        ("2026", str(period), "1000", "CC-1003", account)
        for period in (1, 2, 3)
        for account in ("53000", "54000")
    }
    assert missing == {
        ("2026", "5", "1000", "CC-1006", "39000"), ("2026", "5", "3000", "CC-3003", "39000"),
    }  # fmt: skip
    assert sign == {("2026", "4", "2000", "CC-2003", "53000")}
    assert len(rounding) > 100
    assert len(translated) > 20
    explained = late | mapped | missing | sign | rounding | translated
    assert {d.key for d in differences} == explained
