"""Builds the bundled finance data as two DuckDB files, `fi` and `bpc`: `python -m … FOLDER`."""

import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.random import Generator

from backend.data.finance import ledger, master
from backend.data.finance.consolidation import BUILD_FIGURES
from backend.data.finance.descriptions import COLUMNS, TABLES
from backend.data.reading.raw import execute_on
from backend.data.sql.quoting import literal

FINANCE_VERSION = "1"  # raise it when the generated data changes

_DOCUMENTS = """
CREATE TABLE fi.documents AS
WITH numbered AS (
  SELECT *, row_number() OVER (PARTITION BY company_code, fiscal_year
    ORDER BY posting_date, entry_date, gl_account, cost_centre, text, group_cents) AS n
  FROM postings
), lines AS (
  SELECT *, 1 AS line_item FROM numbered
  UNION ALL BY NAME
  SELECT * REPLACE (-local_cents AS local_cents, -group_cents AS group_cents,
    NULL AS cost_centre,
    CASE WHEN trading_partner IS NOT NULL THEN $clearing WHEN gl_account < '500000'
      THEN $receivables ELSE $payables END AS gl_account), 2 AS line_item
  FROM numbered
)
SELECT company_code, fiscal_year, fiscal_period,
  (fiscal_year::BIGINT * 1000000 + n)::VARCHAR AS document_number, line_item::INTEGER AS line_item,
  CASE WHEN trading_partner IS NOT NULL THEN 'IC' WHEN text LIKE 'Payroll%' OR text LIKE
    'Employer%' OR text LIKE 'Depreciation%' THEN 'SA' WHEN gl_account IN ('400000', '410000',
    $receivables) THEN 'DR' ELSE 'KR' END AS document_type,
  document_date, posting_date, entry_date, gl_account, cost_centre, trading_partner,
  (local_cents / 100)::DECIMAL(15, 2) AS amount_local, local_currency,
  (group_cents / 100)::DECIMAL(15, 2) AS amount_group, 'EUR' AS group_currency, text
FROM lines ORDER BY company_code, fiscal_year, n, line_item
"""

_TOTALS = """
CREATE VIEW fi.totals AS
SELECT d.company_code, d.cost_centre, a.group_account, d.fiscal_year, d.fiscal_period,
  sum(d.amount_local) AS amount_local, d.local_currency,
  sum(d.amount_group) AS amount_group, d.group_currency
FROM documents d JOIN gl_accounts a USING (gl_account)
WHERE a.group_account IS NOT NULL AND d.trading_partner IS NULL
GROUP BY ALL
"""


def build_finance(folder: Path) -> None:
    """Write `fi.duckdb` and `bpc.duckdb` into `folder`; the same on every machine."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(master.SEED)
    rates = ledger.average_rates(rng)
    postings = pa.concat_tables(
        [ledger.document_lines(rng, rates), ledger.recharge_lines(rng, rates)]
    )
    with duckdb.connect(":memory:", config={"threads": 2}) as connection:
        for name in ("fi", "bpc"):
            connection.execute(f"ATTACH {_quoted(folder / name)} AS {name}")
        connection.register("postings", postings)
        connection.register("planned", _planned(rng))
        _write_master_data(connection, rates)
        codes = {
            name: getattr(master, name.upper()) for name in ("clearing", "receivables", "payables")
        }
        connection.execute(_DOCUMENTS, codes)
        connection.execute("USE fi")
        connection.execute(_TOTALS)
        connection.execute("USE memory")
        for statement in BUILD_FIGURES:
            connection.execute(statement)
        _describe(connection)


def _planned(rng: Generator) -> pa.Table:
    """Return the budget in hundreds of euros, and a forecast within a few percent of it."""
    rows = []
    for company, centre, account, month, _ in ledger.plan_cells():
        drift = 1 + rng.normal(0.015, 0.03)
        for year, period in master.PLANNED_PERIODS:
            growth = 1.0 if year == 2025 else 1.03
            budget = round(month * growth, -2)
            forecast = round(budget * drift, -2)
            for version, amount in (("BUDGET", budget), ("FORECAST", forecast)):
                rows.append((version, year, period, company, centre, account, amount))
    names = ("version", "fiscal_year", "fiscal_period", "company_code", "cost_centre", "gl_account")
    return pa.table(dict(zip((*names, "amount"), map(list, zip(*rows, strict=True)), strict=True)))


def _write_master_data(
    connection: duckdb.DuckDBPyConnection, rates: dict[tuple[int, int, str], float]
) -> None:
    companies = [astuple(company)[:4] for company in master.COMPANY_CODES]
    centres = [astuple(centre)[:5] for centre in master.COST_CENTRES]
    accounts = [astuple(account) for account in master.ACCOUNTS]
    strings: dict[str, tuple[str, Sequence[tuple[str | None, ...]]]] = {
        "fi.company_codes": ("company_code, name, country, local_currency", companies),
        "fi.cost_centres": ("cost_centre, name, company_code, responsible, department", centres),
        "fi.gl_accounts": ("gl_account, name, account_type, group_account", accounts),
        "bpc.group_accounts": ("group_account, name", list(master.GROUP_ACCOUNTS.items())),
    }
    for table, (columns, rows) in strings.items():
        names = columns.split(", ")
        listed = pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
        execute_on(connection, listed, f"CREATE TABLE {table} AS FROM incoming")
    _write_rates(connection, rates)


def _write_rates(
    connection: duckdb.DuckDBPyConnection, rates: dict[tuple[int, int, str], float]
) -> None:
    plan = [
        ("PLAN", y, p, c, r)
        for y, p in master.PLANNED_PERIODS
        for c, r in master.PLAN_RATES.items()
    ]
    average = [
        ("AVERAGE", y, p, c, rate) for (y, p, c), rate in rates.items() if (y, p) in master.PERIODS
    ]
    connection.execute(
        "CREATE TABLE fi.exchange_rates(rate_type VARCHAR, fiscal_year INTEGER, "
        "fiscal_period INTEGER, currency VARCHAR, rate DECIMAL(9, 4))"
    )
    connection.executemany("INSERT INTO fi.exchange_rates VALUES (?, ?, ?, ?, ?)", average + plan)


def _describe(connection: duckdb.DuckDBPyConnection) -> None:
    """Store the descriptions in the files, where every reader finds them."""
    for table, text in TABLES.items():
        kind = "VIEW" if table == "fi.totals" else "TABLE"
        connection.execute(f"COMMENT ON {kind} {table} IS {_quoted(text)}")
        if kind == "TABLE":
            for (column,) in connection.execute(
                "SELECT column_name FROM duckdb_columns() "
                "WHERE database_name || '.' || table_name = ?",
                [table],
            ).fetchall():
                if column in COLUMNS:
                    connection.execute(
                        f"COMMENT ON COLUMN {table}.{column} IS {_quoted(COLUMNS[column])}"
                    )


def _quoted(text: object) -> str:
    if isinstance(text, Path):
        text = text.with_suffix(".duckdb")
    return literal(str(text))


if __name__ == "__main__":
    build_finance(Path(sys.argv[1]))
