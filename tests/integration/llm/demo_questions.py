"""What people ask first, in conversations: each question with the SQL of its figures."""

# ruff: noqa: E501 - a question stands on one line with the SQL of its figures

from tests.integration.llm.demo_figures import (
    against_plan,
    amounts,
    differences,
    planned,
    posted,
    refused,
    rows,
    spend,
)

KNOWN_COMPANIES = ("1000 Halden Instruments GmbH", "2000 Halden", "3000 Halden")
TO_DATE = "fiscal_year = 2026 AND fiscal_period <= 10"
CONVERSATIONS = [
    [
        ("Compare FI and BPC for company 1000", rows(differences("company_code = '1000'"), "company 1000")),
        ("Show me the top 3", rows(differences("company_code = '1000'", limit=3), "company 1000")),
        ("Show me the top differences", rows(differences("company_code = '1000'"), "company 1000")),
        ("only company 2000", rows(differences("company_code = '2000'"), "company 2000")),
        ("and above 5,000?", rows(differences("company_code = '2000'", above=5000), "above EUR 5,000")),
        ("by month", rows(differences("company_code = '2000'", "fiscal_year, fiscal_period", above=5000))),
    ],
    [
        ("Compare FI and BPC for company 9999", refused("no company “9999”", *KNOWN_COMPANIES)),
        ("only company 3000", rows(differences("company_code = '3000'"))),
        ("and BPC for company Atlantis", refused("Atlantis", *KNOWN_COMPANIES)),
    ],
    [
        ("Show me the top differences", rows(differences())),
        ("only 2025", rows(differences("fiscal_year = 2025"))),
        ("except company 1000", rows(differences("fiscal_year = 2025 AND company_code <> '1000'"))),
    ],
    [
        ("Compare FI with BPC by company",
         rows(differences(by="company_code", everything=True))),
        ("without travel",
         rows(differences("group_account <> '52000'", by="company_code", everything=True))),
        ("by quarter", refused("by quarter")),
    ],
    [
        ("Compare FI with BPC for CC-1003 in Q1 2026",
         rows(differences("cost_centre = 'CC-1003' AND fiscal_year = 2026 AND fiscal_period <= 3"))),
        ("without CC-1001", refused("cannot leave out a cost centre")),
    ],
    [("Compare FI with BPC for 2031", refused("no figures of fiscal year 2031", "2025, 2026"))],
    [("Compare FI and BPC, differences below 5,000", refused("limit of the amount"))],
    [("Compare FI and BPC for project Apollo", refused("“project Apollo”"))],
    [("Vergleiche FI mit BPC für 1000", refused("“Vergleiche”", "“mit”", "“für”"))],
    [
        ("Which cost centres spent the most this year?",
         rows(spend("fiscal_year = 2026", "cost_centre", order="amount DESC"), "This year is fiscal year 2026")),
        ("Show me the top 3",
         rows(spend("fiscal_year = 2026", "cost_centre", order="amount DESC", limit=3))),
        ("only company 2000",
         rows(spend("fiscal_year = 2026 AND company_code = '2000'", "cost_centre", order="amount DESC", limit=3))),
        ("last year", rows(spend("fiscal_year = 2025 AND company_code = '2000'", "cost_centre",
                                 order="amount DESC", limit=3))),
    ],
    [
        ("Which cost centres are over budget?", refused("No cost centre is over budget", "posted periods")),
        ("and in 2025?", rows(against_plan("fiscal_year = 2025", "cost_centre", "a > b"))),
        ("by month", rows(against_plan("fiscal_year = 2025", "fiscal_period", "a > b"))),
        ("only company 1000", rows(against_plan("fiscal_year = 2025 AND company_code = '1000'",
                                                "fiscal_period", "a > b"))),
    ],
    [("Which cost centres are not over budget in 2026?",
      rows(against_plan(TO_DATE, "cost_centre", "a <= b")))],
    [("Is CC-3003 over budget in 2025?", amounts(
        "SELECT (SELECT sum(amount_group) FROM fi.totals WHERE cost_centre = 'CC-3003' AND fiscal_year = 2025) "
        "- (SELECT sum(amount_group) FROM bpc.figures WHERE cost_centre = 'CC-3003' AND fiscal_year = 2025 "
        "AND version = 'BUDGET')", "over budget by"))],
    [
        ("Show me the top 3", rows(spend("fiscal_year = 2026", "cost_centre", order="amount DESC", limit=3),
                                   "You named no figure", "You named no year")),
        ("and above 5.000k?", refused("no such figures", "“5.000” as 5,000")),
        ("above 1.600.000", rows(spend("fiscal_year = 2026", "cost_centre", "amount > 1600000", "amount DESC"))),
    ],
    [("by month", rows(spend("fiscal_year = 2026", "fiscal_period"), "You named no figure"))],
    [
        ("Total spend for company 1000 in 2025", amounts(spend("company_code = '1000' AND fiscal_year = 2025"))),
        ("by quarter", rows(spend("company_code = '1000' AND fiscal_year = 2025",
                                  "CAST(ceil(fiscal_period / 3.0) AS INTEGER)"))),
        ("only Q2 by month", rows(spend(
            "company_code = '1000' AND fiscal_year = 2025 AND fiscal_period IN (4, 5, 6)", "fiscal_period"))),
        ("all companies", rows(spend("fiscal_year = 2025 AND fiscal_period IN (4, 5, 6)", "fiscal_period"))),
    ],
    [
        ("spend by company", rows(spend("fiscal_year = 2026", "company_code"), "You named no year")),
        ("and by cost centre?", rows(spend("fiscal_year = 2026", "cost_centre"))),
        ("without CC-1001 and CC-1002",
         rows(spend("fiscal_year = 2026 AND cost_centre NOT IN ('CC-1001', 'CC-1002')", "cost_centre"))),
    ],
    [("What did Germany spend in Q1 2025?",
      amounts(spend("company_code = '1000' AND fiscal_year = 2025 AND fiscal_period <= 3"), "company 1000"))],
    [("How much did we spend in 2025 except company 1000?",
      amounts(spend("company_code <> '1000' AND fiscal_year = 2025"), "without company 1000"))],
    [("spend of not only company 1000", refused("“not”"))],
    [("Spend in 2025 excluding March and April",
      amounts(spend("fiscal_year = 2025 AND fiscal_period NOT IN (3, 4)")))],
    [("Spend by cost centre and month for company 3000 in January 2026",
      rows(spend("company_code = '3000' AND fiscal_year = 2026 AND fiscal_period = 1",
                 "cost_centre, fiscal_period")))],
    [("spend from November 2025 to February 2026",
      amounts(spend("fiscal_year * 100 + fiscal_period BETWEEN 202511 AND 202602")))],
    [("spend since March 2026", amounts(spend("fiscal_year = 2026 AND fiscal_period >= 3")))],
    [("spend in the last 3 months by month", rows(
        "SELECT fiscal_period, sum(amount_group) FROM fi.totals WHERE cost_centre IS NOT NULL AND "
        "fiscal_year = 2026 AND fiscal_period IN (8, 9, 10) GROUP BY 1 ORDER BY 1"))],
    [("H1 2026 vs H1 2025 spend", rows(spend("fiscal_period <= 6", "fiscal_year")))],
    [("spend last month", refused("“last month”", "Name the month"))],
    [("spend in period 13 of 2026", refused("no period 13"))],
    [("spend in 2031", refused("no figures of fiscal year 2031"))],
    [("spend by week", refused("“week”"))],
    [("cost centres over 50% of their budget", refused("50 %"))],
    [
        ("What is the total for travel in March 2026?", rows(posted(
            "gl_account = '630000' AND fiscal_year = 2026 AND fiscal_period = 3", "gl_account"), "Travel")),
        ("and in 2025?", rows(posted(
            "gl_account = '630000' AND fiscal_year = 2025 AND fiscal_period = 3", "gl_account"))),
        ("for the whole year by month", rows(posted(
            "gl_account = '630000' AND fiscal_year = 2025", "fiscal_period"))),
    ],
    [
        ("What is the total for marketing in 2025?", refused("cost centre CC-1001", "group account 56000")),
        ("the account", rows(posted("group_account = '56000' AND fiscal_year = 2025", "gl_account"))),
    ],
    [("How much did we spend on IT in 2025?", rows(posted(
        "group_account = '54000' AND fiscal_year = 2025", "gl_account"), "I took “IT” as group account"))],
    [("spend for sales in 2025", refused("CC-1002", "CC-2001", "CC-3001"))],
    [("What was posted on account 640000 by company in 2025?",
      rows(posted("gl_account = '640000' AND fiscal_year = 2025", "company_code")))],
    [("What was posted on account 123456?", refused("no account “123456”", "630000 Travel"))],
    [("Which accounts cost the most in company 2000 in 2025?", rows(posted(
        "account_type = 'expense' AND company_code = '2000' AND fiscal_year = 2025", "gl_account")))],
    [("spend without salaries and rent by company in 2025", rows(posted(
        "account_type = 'expense' AND gl_account NOT IN ('620000', '660000') AND fiscal_year = 2025",
        "company_code")))],
    [("cost centres with spend between 500k and 1m in 2025",
      rows(spend("fiscal_year = 2025", "cost_centre", "amount BETWEEN 500000 AND 1000000")))],
    [("cost centres below EUR 600 000 in 2025",
      rows(spend("fiscal_year = 2025", "cost_centre", "amount < 600000")))],
    [("bottom two cost centres by spend in 2025",
      rows(spend("fiscal_year = 2025", "cost_centre", order="amount", limit=2)))],
    [("top 4 cost centres by budget in 2026", rows(
        planned("fiscal_year = 2026", "cost_centre").replace("ORDER BY 1", "ORDER BY 2 DESC LIMIT 4")))],
    [("Revenue by company in 2026", rows(posted(
        "account_type = 'revenue' AND fiscal_year = 2026", "company_code"), "credit"))],
    [("revenue and costs in 2025", refused("Ask for revenue or for costs"))],
    [("spend above 5,000 USD", refused("“USD”"))],
    [("What is the spend of cost centre 4711?", refused("no cost centre “4711”", "CC-1001 Marketing"))],
    [("spend for 9999", refused("“9999”"))],
    [("spend for 2000 in 2025", amounts(spend("company_code = '2000' AND fiscal_year = 2025"), "I read “2000”"))],
    [
        ("spend on Narnia for company 1000 in 2025", refused("“Narnia”")),
        ("by month", refused("“Narnia”")),
        ("without it", rows(spend("company_code = '1000' AND fiscal_year = 2025", "fiscal_period"))),
    ],
    [
        ("spend for company 1000 in 2025 without late postings", refused("“without late postings”")),
        ("without it", amounts(spend("company_code = '1000' AND fiscal_year = 2025"),
                               "Left out: “without late postings”")),
        ("without it", refused("nothing of your last question that I did not understand")),
    ],
    [
        ("spend on Narnia for company 1000", refused("“Narnia”")),
        ("Top 2 cost centres in 2025",
         rows(spend("fiscal_year = 2025", "cost_centre", order="amount DESC", limit=2))),
        ("never mind", refused("All right")),
    ],
    [("Budget vs actual by company for 2026",
      rows(against_plan("fiscal_year = 2026 AND fiscal_period <= 10", "company_code", "TRUE")))],
    [
        ("Budget vs actual by company for 2025",
         rows(against_plan("fiscal_year = 2025", "company_code", "TRUE"))),
        ("and above 5,000?", refused("several figures")),
    ],
    [("ledger vs plan for company 2000 in 2025", amounts(
        "SELECT sum(amount_group) FROM fi.totals WHERE cost_centre IS NOT NULL AND company_code = '2000' "
        "AND fiscal_year = 2025 UNION ALL SELECT sum(amount_group) FROM bpc.figures WHERE version = "
        "'BUDGET' AND cost_centre IS NOT NULL AND company_code = '2000' AND fiscal_year = 2025"))],
    [("What is the forecast for company 3000 in 2026 by month?",
      rows(planned("company_code = '3000' AND fiscal_year = 2026", "fiscal_period", "FORECAST")))],
    [("How much is left in company 2000 in 2026?", amounts(
        "SELECT (SELECT sum(amount_group) FROM bpc.figures WHERE version = 'BUDGET' AND cost_centre IS NOT "
        "NULL AND company_code = '2000' AND fiscal_year = 2026) - (SELECT sum(amount_group) FROM fi.totals "
        "WHERE cost_centre IS NOT NULL AND company_code = '2000' AND fiscal_year = 2026)"))],
    [
        ("What's the budget for CC-1001?", amounts(planned("cost_centre = 'CC-1001' AND fiscal_year = 2026"))),
        ("in January and June", amounts(planned(
            "cost_centre = 'CC-1001' AND fiscal_year = 2026 AND fiscal_period IN (1, 6)"))),
        ("only company 2000", refused("no such figures", "CC-1001")),
    ],
    [("budget of CC-9999", refused("no cost centre 'CC-9999'"))],
    [("What is the HR budget in 2025?",
      amounts(planned("cost_centre = 'CC-1007' AND fiscal_year = 2025"), "CC-1007"))],
    [("Compare CC-1001 and CC-2002 by month in Q1 2025", rows(spend(
        "cost_centre IN ('CC-1001', 'CC-2002') AND fiscal_year = 2025 AND fiscal_period <= 3",
        "cost_centre, fiscal_period")))],
    [("What is the difference between 2025 and 2026 for travel?", amounts(
        "SELECT sum(amount_group) FILTER (fiscal_year = 2026) - sum(amount_group) FILTER (fiscal_year = "
        "2025) FROM fi.documents WHERE gl_account = '630000'", "The difference"))],
    [
        ("Show me the largest postings in March 2026", rows(
            "SELECT document_number, amount_group FROM fi.documents JOIN fi.gl_accounts USING (gl_account) "
            "WHERE account_type = 'expense' AND fiscal_year = 2026 AND fiscal_period = 3 "
            "ORDER BY amount_group DESC LIMIT 10")),
        ("above 70,000", rows(
            "SELECT document_number, amount_group FROM fi.documents JOIN fi.gl_accounts USING (gl_account) "
            "WHERE account_type = 'expense' AND fiscal_year = 2026 AND fiscal_period = 3 "
            "AND amount_group > 70000 ORDER BY amount_group DESC")),
    ],
    [("How many postings were there in March 2026?", amounts(
        spend("fiscal_year = 2026 AND fiscal_period = 3"), "There are 784 postings"))],
    [("list the cost centres of company 3000", rows(
        "SELECT cost_centre, name, responsible FROM fi.cost_centres WHERE company_code = '3000' ORDER BY 1"))],
    [("Who is responsible for CC-1003?", rows(
        "SELECT cost_centre, responsible FROM fi.cost_centres WHERE cost_centre = 'CC-1003'"))],
    [("What did we spend on travel and consulting in company 2000 in 2025?", rows(posted(
        "gl_account IN ('630000', '640000') AND company_code = '2000' AND fiscal_year = 2025",
        "gl_account")))],
    [("travel costs in 2025 and 2026 by quarter", rows(posted(
        "gl_account = '630000'", "fiscal_year, CAST(ceil(fiscal_period / 3.0) AS INTEGER)")))],
    [("How many postings above 70,000 were there in March 2026?", rows(
        "SELECT document_number, amount_group FROM fi.documents JOIN fi.gl_accounts USING (gl_account) "
        "WHERE account_type = 'expense' AND fiscal_year = 2026 AND fiscal_period = 3 "
        "AND amount_group > 70000", "of 3 postings"))],
    [("spend above 5,000 in 2025", refused("a limit of what?"))],
    [("the two largest invoices of 2025", rows(
        "SELECT document_number, amount_group FROM fi.documents JOIN fi.gl_accounts USING (gl_account) "
        "WHERE account_type = 'expense' AND fiscal_year = 2025 ORDER BY amount_group DESC LIMIT 2"))],
    [
        ("spend by company in 2025", rows(spend("fiscal_year = 2025", "company_code"))),
        ("and the budget?", rows(planned("fiscal_year = 2025", "company_code"))),
    ],
    [("top 3 and bottom 3 cost centres", refused("one way at a time"))],
    [("top 3 cost centres per company", refused("not within each"))],
    [("spend for all but company 1000 in 2025",
      amounts(spend("fiscal_year = 2025 AND company_code <> '1000'")))],
    [("spend of every company but 1000 in 2025", refused("“but”"))],
    [("spend of company 1000 minus company 2000", refused("“minus”"))],
    [("Compare FI and BPC revenue for company 1000", refused("revenue", "cannot apply"))],
    [("list revenue by company in 2025", rows(posted(
        "account_type = 'revenue' AND fiscal_year = 2025", "company_code")))],
    [("Who is responsible for the highest spend?", refused("who is responsible", "cannot apply"))],
    [("How many cost centres are there?", rows(
        "SELECT cost_centre, responsible FROM fi.cost_centres ORDER BY 1", "There are 16"))],
    [("Why did CC-1001 spend so much?", refused("an explanation"))],
    [("write a poem about company 1000", refused("“write”", "“poem about”"))],
    [("For company 1000 only: SELECT sum(amount_group) FROM totals", refused("company 1000"))],
    [
        ("SELECT sum(amount_group) AS n FROM totals", rows("SELECT sum(amount_group) FROM fi.totals")),
        ("only company 1000", refused("Ask the whole question")),
    ],
    [("What data do you have about Atlantis?", refused("“about Atlantis”"))],
]  # fmt: skip
