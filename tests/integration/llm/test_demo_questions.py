"""What people ask first, in conversations: the demo model's figures are those of plain SQL.

Each question is either answered with exactly the figures of its SQL, or refused with a sentence.
"""

# ruff: noqa: E501 - a question stands on one line with the SQL of its figures

import asyncio
import json
import re
from dataclasses import dataclass
from uuid import uuid4

import duckdb
import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from starlette.testclient import TestClient

from backend.auth.scope import LOCAL_USER
from backend.data.finance.build import build_finance
from backend.data.sources import Sources
from backend.demo_model.app import create_app
from backend.domains.catalog import FINANCE
from backend.tools.context import ToolContext
from backend.tools.registry import build_tools

FIGURE = re.compile(r"EUR -?\d|\| -?[\d,]+\.\d\d")


@dataclass(frozen=True)
class Rows:
    """The answer's table has these rows and no others: each with the SQL's values."""

    sql: str
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Amounts:
    """The answer says each of these amounts."""

    sql: str
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """The answer holds no figure, and these words."""

    says: tuple[str, ...]


def rows(sql, *says):
    return Rows(sql, says)


def amounts(sql, *says):
    return Amounts(sql, says)


def refused(*says):
    return Refused(says)


def spend(where, by="", having="TRUE", order="1", limit=100):
    """What was spent, from the totals that FI keeps by cost centre."""
    keys = f"{by}, " if by else ""
    return (
        f"SELECT {keys}sum(amount_group) AS amount FROM fi.totals WHERE cost_centre IS NOT NULL "
        f"AND {where} GROUP BY {by or '()'} HAVING {having} ORDER BY {order} LIMIT {limit}"
    )


def posted(where, by="", having="TRUE"):
    """What was posted on accounts, from the documents."""
    keys = f"{by}, " if by else ""
    return (
        f"SELECT {keys}sum(amount_group) FROM fi.documents JOIN fi.gl_accounts USING (gl_account) "
        f"WHERE {where} GROUP BY {by or '()'} HAVING {having} ORDER BY 1"
    )


def planned(where, by="", version="BUDGET"):
    keys = f"{by}, " if by else ""
    return (
        f"SELECT {keys}sum(amount_group) FROM bpc.figures WHERE version = '{version}' AND "
        f"cost_centre IS NOT NULL AND {where} GROUP BY {by or '()'} ORDER BY 1"
    )


def against_plan(where, by, having):
    """Spent, planned and left by something."""
    return (
        f"SELECT {by}, sum(amount_group) FILTER (kind = 'A') AS a, "
        f"sum(amount_group) FILTER (kind = 'B') AS b, b - a FROM ("
        f"SELECT *, 'A' AS kind FROM fi.totals WHERE cost_centre IS NOT NULL UNION ALL BY NAME "
        f"SELECT *, 'B' AS kind FROM bpc.figures WHERE version = 'BUDGET' AND cost_centre IS NOT NULL) "
        f"WHERE {where} GROUP BY {by} HAVING {having} ORDER BY 1"
    )


FINE = "fiscal_year, fiscal_period, company_code, cost_centre, group_account"


def differences(where="TRUE", by=FINE, above=1, limit=10, everything=False):
    """FI against BPC ACTUAL, the largest differences first."""
    keys = [key.strip() for key in by.split(",")]
    same = " AND ".join(f"l.{key} IS NOT DISTINCT FROM r.{key}" for key in keys)
    shown = ", ".join(f"coalesce(l.{key}, r.{key}) AS {key}" for key in keys)
    return (
        f"WITH l AS (SELECT {by}, sum(amount_group) AS fi FROM fi.totals WHERE {where} GROUP BY {by}), "
        f"r AS (SELECT {by}, sum(amount_group) AS bpc FROM bpc.figures WHERE version = 'ACTUAL' "
        f"AND {where} GROUP BY {by}) "
        f"SELECT {shown}, fi, bpc, coalesce(bpc, 0) - coalesce(fi, 0) AS difference "
        f"FROM l FULL JOIN r ON {same} "
        f"WHERE {'TRUE' if everything else f'abs(difference) > {above}'} "
        f"ORDER BY abs(difference) DESC, {by} LIMIT {limit}"
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


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """The bundled books, for plain SQL."""
    folder = tmp_path_factory.mktemp("books")
    build_finance(folder)
    with duckdb.connect() as connection:
        for name in ("fi", "bpc"):
            connection.execute(f"ATTACH '{folder}/{name}.duckdb' AS {name} (READ_ONLY)")
        yield connection


@pytest.fixture(scope="module")
def ask(tmp_path_factory, sandbox):
    """Asks as an agent does, over HTTP and with the real tools; a call's answer is kept."""
    sources = Sources(tmp_path_factory.getbasetemp() / "shared-finance", {}, sandbox)
    context = ToolContext(sources, uuid4(), uuid4(), LOCAL_USER)
    tools = {tool.name: tool for tool in build_tools(None, context)}
    offered = [convert_to_openai_tool(tool) for tool in tools.values()]
    known = {}

    def look_up(call):
        function = call["function"]
        key = (function["name"], function["arguments"])
        if key not in known:
            request = {"type": "tool_call", "id": "x", "name": key[0], "args": json.loads(key[1])}
            known[key] = str(asyncio.run(tools[key[0]].ainvoke(request)).content)
        return {"role": "tool", "tool_call_id": call["id"], "content": known[key]}

    with TestClient(create_app(delay_ms=0)) as client:

        def run(messages, question):
            messages.append({"role": "user", "content": question})
            for _ in range(8):
                body = {"model": "demo", "messages": messages, "tools": offered}
                reply = client.post("/v1/chat/completions", json=body)
                message = reply.json()["choices"][0]["message"]
                messages.append({k: v for k, v in message.items() if v is not None})
                if not message.get("tool_calls"):
                    return message["content"]
                messages += [look_up(call) for call in message["tool_calls"]]
            return pytest.fail("no answer")

        yield run


def written(value):
    """A value as the demo model writes it."""
    if value is None:
        return ""
    return f"{value:,.2f}" if hasattr(value, "quantize") else str(value)


def shown_rows(answer):
    """The rows of the answer's first table."""
    lines = answer.splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith("|")), len(lines))
    shown = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        shown.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return shown


def holds(cells, values):
    """Whether a row has each value as a cell, or as the code that begins one."""
    return all(any(cell == v or cell.startswith(f"{v} ") for cell in cells) for v in values if v)


def _without_scope(answer):
    return re.sub(r"\*Computed for [^*]*\*", "", answer)


def problems_of(answer, expected, books):
    """What is wrong with an answer."""
    found = [f"does not say {words!r}" for words in expected.says if words not in answer]
    if isinstance(expected, Refused):
        return found + (["gives a figure"] if FIGURE.search(_without_scope(answer)) else [])
    wanted = [[written(value) for value in row] for row in books.execute(expected.sql).fetchall()]
    if not wanted:
        return [*found, "the SQL of the case finds nothing"]
    if isinstance(expected, Amounts):
        return found + [f"lacks {row[-1].lstrip('-')}" for row in wanted
                        if row[-1].lstrip("-") not in answer]  # fmt: skip
    shown = shown_rows(answer)
    if len(shown) != len(wanted):
        found.append(f"shows {len(shown)} rows, not {len(wanted)}")
    return found + [f"lacks the row {row}" for row in wanted
                    if not any(holds(cells, row) for cells in shown)]  # fmt: skip


def test_every_question_is_answered_with_the_figures_of_its_sql_or_refused(ask, books):
    wrong, asked = [], 0
    for conversation in CONVERSATIONS:
        messages = []
        for question, expected in conversation:
            asked += 1
            answer = ask(messages, question)
            problems = problems_of(answer, expected, books)
            wrong += [f"{question}: {problem}\n{answer[:600]}" for problem in problems]

    assert asked >= 60
    assert not wrong, "\n\n".join(wrong)


def test_the_examples_of_the_opening_page_work(ask):
    answers = [ask([], question) for question in FINANCE.suggestions]

    assert "is left" in answers[0]
    assert "Likely causes" in answers[1]
    assert "spent most" in answers[2]
    assert "**fi**" in answers[3]
