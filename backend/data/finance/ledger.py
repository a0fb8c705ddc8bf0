"""FI: the posted documents of the bundled group, drawn from a seeded generator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from backend.data.finance import master

Array = NDArray[Any]

# How far a month's costs deviate from the plan: holidays, trade fairs in spring and autumn.
_SEASON = np.array([0.96, 0.97, 1.03, 1.02, 1.01, 1.00, 0.93, 0.90, 1.06, 1.05, 1.04, 1.03])
_LATE = (
    # year, period, cost centre, account: documents entered after the month's load into BPC.
    (2025, 6, "CC-2002", "670000"),
    (2026, 9, "CC-1001", "640000"),
)


def average_rates(rng: Generator) -> dict[tuple[int, int, str], float]:
    """Return units of each currency per euro, by year and period: a walk of about one percent."""
    rates = {}
    for currency, first in master.FIRST_RATES.items():
        steps = rng.normal(0, 0.009, len(master.PLANNED_PERIODS)).cumsum()
        for (year, period), step in zip(master.PLANNED_PERIODS, steps, strict=True):
            rate = 1.0 if currency == master.GROUP_CURRENCY else round(first * (1 + step), 4)
            rates[year, period, currency] = rate
    return rates


def plan_cells() -> list[tuple[str, str | None, str, float, int]]:
    """Return company code, cost centre, account, a month's plan in euros, documents per month."""
    cells: list[tuple[str, str | None, str, float, int]] = []
    for centre in master.COST_CENTRES:
        shares = master.SPENDING[centre.department]
        rows = zip(master.EXPENSE_ACCOUNTS, shares, master.DOCUMENTS_PER_MONTH, strict=True)
        for account, share, documents in rows:
            if share:
                month = centre.budget * share / 1200
                cells.append((centre.company_code, centre.cost_centre, account, month, documents))
    for company in master.COMPANY_CODES:
        for account, share in zip(master.REVENUE_ACCOUNTS, (78, 22), strict=True):
            cells.append((company.company_code, None, account, -company.revenue * share / 1200, 45))
    return cells


def document_lines(rng: Generator, rates: dict[tuple[int, int, str], float]) -> pa.Table:
    """Return one row per document: the posting on a profit and loss account, in cents."""
    cells = plan_cells()
    keys = [(*cell, *period) for period in master.PERIODS for cell in cells]
    counts = np.maximum(1, rng.poisson([key[4] for key in keys]))
    counts[[key[4] == 1 for key in keys]] = 1
    month = np.array([key[6] - 1 for key in keys])
    target = (
        np.array([key[3] for key in keys]) * _SEASON[month] * rng.normal(0.985, 0.05, len(keys))
    )
    cell = np.repeat(np.arange(len(keys)), counts)
    parts = rng.gamma(4.0, 1.0, len(cell))
    euro = target[cell] * parts / np.add.reduceat(parts, np.r_[0, counts.cumsum()[:-1]])[cell]
    return _as_table(rng, [keys[index] for index in cell], euro, rates)


def recharge_lines(rng: Generator, rates: dict[tuple[int, int, str], float]) -> pa.Table:
    """Return intercompany lines: shared services (CC-1006), recharged monthly to subsidiaries."""
    keys, euro = [], []
    for year, period in master.PERIODS:
        for partner, centre, base in (("2000", "CC-2004", 18_400), ("3000", "CC-3003", 9_650)):
            amount = round(base * (1 + rng.normal(0, 0.03)), 2)
            keys.append(("1000", "CC-1006", "470000", partner, 0, year, period))
            keys.append((partner, centre, "695000", "1000", 0, year, period))
            euro += [-amount, amount]
    table = _as_table(rng, keys, np.array(euro), rates, exact=True)
    partners = pa.array([key[3] for key in keys], pa.string())
    return table.set_column(
        table.schema.get_field_index("trading_partner"), "trading_partner", partners
    )


def _as_table(
    rng: Generator,
    keys: Sequence[tuple[Any, ...]],
    euro: Array,
    rates: dict[tuple[int, int, str], float],
    exact: bool = False,
) -> pa.Table:
    currencies = {c.company_code: c.local_currency for c in master.COMPANY_CODES}
    currency = [currencies[key[0]] for key in keys]
    rate = np.array([rates[key[5], key[6], unit] for key, unit in zip(keys, currency, strict=True)])
    local = np.round(euro * rate * 100)
    group = np.round(euro * 100) if exact else np.round(local / rate)
    posted = _dates(rng, keys)
    columns = {
        "company_code": [key[0] for key in keys],
        "fiscal_year": np.array([key[5] for key in keys], np.int32),
        "fiscal_period": np.array([key[6] for key in keys], np.int32),
        **posted,
        "gl_account": [key[2] for key in keys],
        "cost_centre": pa.array([key[1] for key in keys], pa.string()),
        "trading_partner": pa.nulls(len(keys), pa.string()),
        "local_cents": local.astype(np.int64),
        "local_currency": currency,
        "group_cents": group.astype(np.int64),
        "text": _texts(rng, keys),
    }
    return pa.table(columns)


def _dates(rng: Generator, keys: Sequence[tuple[Any, ...]]) -> dict[str, Array]:
    """Return document dates within their month; entered days later, late ones weeks later."""
    months = np.array([f"{key[5]}-{key[6]:02d}" for key in keys], "datetime64[M]")
    first = months.astype("datetime64[D]")
    last = (months + 1).astype("datetime64[D]") - 1
    document = first + rng.integers(0, 27, len(keys))
    posting = np.minimum(document + rng.integers(0, 5, len(keys)), last)
    entry = posting + rng.integers(0, 4, len(keys))
    chosen = rng.random(len(keys)) < 0.6
    late = np.array([(key[5], key[6], key[1], key[2]) in _LATE for key in keys]) & chosen
    entry = np.where(late, last + rng.integers(12, 19, len(keys)), entry)
    return {"document_date": document, "posting_date": posting, "entry_date": entry}


def _texts(rng: Generator, keys: Sequence[tuple[Any, ...]]) -> list[str]:
    picks = rng.integers(0, 1_000_000, len(keys)).tolist()
    numbers = rng.integers(1000, 9999, len(keys)).tolist()
    return [
        master.TEXTS[key[2]][pick % len(master.TEXTS[key[2]])].format(n=number)
        for key, pick, number in zip(keys, picks, numbers, strict=True)
    ]
