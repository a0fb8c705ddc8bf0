"""Queries about a cost centre's budget, as SQL over the bundled sources. Pure."""

from enum import StrEnum


class BudgetBy(StrEnum):
    """How to break down a budget."""

    YEAR = "year"
    PERIOD = "period"
    GROUP_ACCOUNT = "group_account"


COST_CENTRES = """
SELECT cost_centre, name, company_code, responsible FROM fi.cost_centres ORDER BY cost_centre
"""
POSTED = """
SELECT fiscal_year, max(fiscal_period) AS period FROM fi.totals GROUP BY fiscal_year
ORDER BY fiscal_year
"""

_DIMENSIONS = {
    BudgetBy.YEAR: ("fiscal_year", "fiscal_year"),
    BudgetBy.PERIOD: ("fiscal_period", "fiscal_period"),
    BudgetBy.GROUP_ACCOUNT: (
        "group_account",
        "group_account, (SELECT any_value(g.name) FROM bpc.group_accounts g "
        "WHERE g.group_account = f.group_account) AS name",
    ),
}

_FIGURES = """
WITH figures AS (
  SELECT fiscal_year, fiscal_period, group_account, version, amount_group
  FROM bpc.figures WHERE cost_centre = '{cost_centre}' AND version IN ('BUDGET', 'FORECAST')
  UNION ALL
  SELECT fiscal_year, fiscal_period, group_account, 'ACTUAL', amount_group
  FROM fi.totals WHERE cost_centre = '{cost_centre}'
)
SELECT {columns},
  coalesce(sum(amount_group) FILTER (version = 'BUDGET'), 0) AS budget,
  coalesce(sum(amount_group) FILTER (version = 'ACTUAL'), 0) AS actual,
  budget - actual AS remaining,
  round(100 * actual / nullif(budget, 0), 1) AS used_percent,
  coalesce(sum(amount_group) FILTER (version = 'FORECAST'), 0) AS forecast
FROM figures f
WHERE fiscal_year = {year} AND fiscal_period BETWEEN {first} AND {last}
GROUP BY {dimension} ORDER BY {dimension}
"""


def budget_query(cost_centre: str, year: int, first: int, last: int, by: BudgetBy) -> str:
    """Return the SQL of budget, actual, remaining and forecast of a cost centre for periods."""
    dimension, columns = _DIMENSIONS[by]
    return _FIGURES.format(
        cost_centre=cost_centre.replace("'", "''"),
        columns=columns,
        dimension=dimension,
        year=int(year),
        first=int(first),
        last=int(last),
    )
