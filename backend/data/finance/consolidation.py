"""BPC: planned and consolidated figures, loaded from FI.

They differ from FI on purpose, in the ways that `docs/finance-source.md` lists.
"""

# Each posting with the period, group account and rate under which BPC loaded it.
_LOADED = """
CREATE TEMP TABLE loaded AS
SELECT d.company_code, d.cost_centre, d.trading_partner, d.local_currency, d.fiscal_year,
  CASE WHEN d.entry_date > make_date(d.fiscal_year, d.fiscal_period, 1) + INTERVAL 1 MONTH
    + INTERVAL 7 DAY THEN d.fiscal_period + 1 ELSE d.fiscal_period END AS fiscal_period,
  CASE WHEN d.gl_account = '651000' AND d.cost_centre = 'CC-1003' AND d.fiscal_year = 2026
    AND d.fiscal_period <= 3 THEN '53000' ELSE a.group_account END AS group_account,
  d.amount_local,
  CASE WHEN d.company_code = '2000' AND d.fiscal_year = 2026 AND d.fiscal_period = 2
    AND d.trading_partner IS NULL THEN d.amount_local / january.rate
    ELSE d.amount_group END AS amount_group
FROM fi.documents d
JOIN fi.gl_accounts a USING (gl_account)
JOIN fi.exchange_rates january ON january.rate_type = 'AVERAGE'
  AND january.currency = d.local_currency
  AND january.fiscal_year = 2026 AND january.fiscal_period = 1
WHERE a.group_account IS NOT NULL
"""

_ACTUAL = """
CREATE TEMP TABLE actual AS
SELECT 'ACTUAL' AS version, fiscal_year, fiscal_period, company_code, cost_centre,
  group_account, trading_partner, 'LOAD' AS origin,
  (sum(amount_local) * any_value(sign))::DECIMAL(15, 2) AS amount_local, local_currency,
  round(sum(amount_group) * any_value(sign), any_value(digits))::DECIMAL(15, 2) AS amount_group
FROM (SELECT *,
  CASE WHEN company_code = '3000' AND trading_partner IS NULL THEN 0 ELSE 2 END AS digits,
  CASE WHEN cost_centre = 'CC-2003' AND group_account = '53000'
    AND fiscal_year = 2026 AND fiscal_period = 4 THEN -1 ELSE 1 END AS sign FROM loaded)
GROUP BY ALL
"""

_ELIMINATIONS = """
CREATE TEMP TABLE eliminations AS
SELECT version, fiscal_year, fiscal_period, company_code, cost_centre, group_account,
  trading_partner, 'ELIMINATION' AS origin, -amount_local, local_currency, -amount_group
FROM actual
WHERE trading_partner IS NOT NULL
  AND NOT (fiscal_year = 2026 AND fiscal_period = 5 AND '3000' IN (company_code, trading_partner))
"""

_PLANNED = """
CREATE TEMP TABLE plans AS
SELECT p.version, p.fiscal_year, p.fiscal_period, p.company_code, p.cost_centre,
  a.group_account, NULL AS trading_partner, 'PLAN' AS origin,
  (sum(p.amount) * any_value(r.rate))::DECIMAL(15, 2) AS amount_local,
  any_value(r.currency) AS local_currency, sum(p.amount)::DECIMAL(15, 2) AS amount_group
FROM planned p
JOIN fi.gl_accounts a USING (gl_account)
JOIN fi.company_codes c USING (company_code)
JOIN fi.exchange_rates r ON r.rate_type = 'PLAN' AND r.currency = c.local_currency
  AND r.fiscal_year = p.fiscal_year AND r.fiscal_period = p.fiscal_period
GROUP BY p.version, p.fiscal_year, p.fiscal_period, p.company_code, p.cost_centre, a.group_account
"""

_FIGURES = """
CREATE TABLE bpc.figures AS
SELECT version, fiscal_year, fiscal_period, company_code, cost_centre, group_account,
  trading_partner, origin, amount_local, local_currency, amount_group, 'EUR' AS group_currency
FROM (SELECT * FROM actual UNION ALL FROM eliminations UNION ALL FROM plans)
ORDER BY ALL
"""

BUILD_FIGURES = (_LOADED, _ACTUAL, _ELIMINATIONS, _PLANNED, _FIGURES)
