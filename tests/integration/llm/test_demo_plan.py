"""The whole story with the demo model on two workers: planned, agreed, done, written down."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from backend.data.finance.build import build_finance
from backend.domains.finance_team import FINANCE_TEAM
from backend.types import JSON
from tests.integration.llm.test_demo_team_work import ask
from tests.integration.scenes import make_session
from tests.stack import Stack

REPORT = "Reconcile FI and BPC for 2026 and write me a report"
KEYS = "fiscal_year, fiscal_period, company_code, cost_centre, group_account"
SIDES = f"""
    SELECT {KEYS}, amount_group AS fi, 0 AS bpc FROM fi.totals WHERE fiscal_year = 2026
    UNION ALL SELECT {KEYS}, 0, amount_group FROM bpc.figures
    WHERE fiscal_year = 2026 AND version = 'ACTUAL'
"""
DIFFERENCES = f"""
    SELECT {KEYS}, sum(bpc) - sum(fi) AS difference FROM ({SIDES}) GROUP BY ALL
    HAVING abs(difference) > 1 ORDER BY abs(difference) DESC, {KEYS}
"""
LINK = re.compile(r"\[([^\]]+)\]\(artifact:([0-9a-f-]{36})@(\d+)#row=(\d+)&column=(\w+)\)")
TOLERANCE = Decimal("1.00")
FIGURE = re.compile(r"-?\d[\d,]*\.\d\d\b")


@pytest.fixture
def books(tmp_path: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """The bundled books, for plain SQL."""
    build_finance(tmp_path)
    with duckdb.connect() as connection:
        for name in ("fi", "bpc"):
            connection.execute(f"ATTACH '{tmp_path}/{name}.duckdb' AS {name} (READ_ONLY)")
        yield connection


def content_of(stack: Stack, artifact_id: str, version: int = 1) -> JSON:
    answer = stack.client.get(f"/artifacts/{artifact_id}/versions/{version}")
    assert answer.status_code == 200, answer.text
    return answer.json()["preview"]


def test_a_reconciliation_is_planned_agreed_and_written_down_with_numbers_of_the_books(
    demo_stack: Stack, books: duckdb.DuckDBPyConnection
) -> None:
    demo_stack.start_worker()
    session_id = make_session(demo_stack, FINANCE_TEAM.name)

    proposal = ask(demo_stack, session_id, REPORT)[1]
    turn, summary = ask(demo_stack, session_id, "yes, proceed with that plan")

    assert "Shall I proceed?" in proposal
    assert (turn["agent"], turn["route"]["reason"]) == ("Sage", "manager")
    (plan,) = demo_stack.client.get(f"/sessions/{session_id}/tasks").json()["items"]
    assert [(task["agent"], task["status"], task["tries"]) for task in plan["tasks"]] == [
        ("Reconciler", "succeeded", 1),
        ("Reconciler", "succeeded", 1),
        ("BudgetAnalyst", "succeeded", 1),
        ("ReportWriter", "succeeded", 1),
    ]
    listed = demo_stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    made = {artifact["title"].partition(":")[0]: artifact for artifact in listed}
    assert {kind: artifact["kind"] for kind, artifact in made.items()} == {
        "Differences": "table",
        "Largest differences": "table",
        "Chart": "chart",
        "Report": "document",
    }
    assert all(f"artifact:{artifact['id']}@1" in summary for artifact in listed)

    wanted = books.execute(DIFFERENCES).fetchall()
    everything = content_of(demo_stack, made["Differences"]["id"])
    assert everything["total_rows"] == len(wanted) > 10
    largest = content_of(demo_stack, made["Largest differences"]["id"])
    names = [column["name"] for column in largest["columns"]]
    kept = [dict(zip(names, row, strict=True)) for row in largest["rows"]]
    assert [Decimal(str(row["difference"])) for row in kept] == [row[-1] for row in wanted[:10]]

    report = content_of(demo_stack, made["Report"]["id"])["text"]
    assert f"](artifact:{made['Chart']['id']}@1)" in report
    links = LINK.findall(report)
    assert len([link for link in links if link[4] == "difference"]) == len(kept) == 10
    for shown, artifact_id, version, row, column in links:
        assert (artifact_id, version) == (made["Largest differences"]["id"], "1")
        cell = kept[int(row) - 1][column]
        assert Decimal(shown.replace(",", "")) == Decimal(str(cell))
    fi, bpc = books.execute(f"SELECT sum(fi), sum(bpc) FROM ({SIDES})").fetchall()[0]
    said = {Decimal(text.replace(",", "")) for text in FIGURE.findall(report)}
    of_table = {Decimal(link[0].replace(",", "")) for link in links}
    assert {fi, bpc, bpc - fi} <= said
    explained = causes_of(report)
    assert sum(explained) == bpc - fi
    assert said - of_table - {fi, bpc, bpc - fi, TOLERANCE} <= {*explained}
    assert f"of {len(wanted)} differences" in summary


def test_a_comparison_that_cannot_be_made_is_no_success(demo_stack: Stack) -> None:
    session_id = make_session(demo_stack, FINANCE_TEAM.name)
    ask(demo_stack, session_id, "Reconcile FI and BPC in USD and write me a report")

    _, summary = ask(demo_stack, session_id, "yes, proceed with that plan")

    (plan,) = demo_stack.client.get(f"/sessions/{session_id}/tasks").json()["items"]
    ends = [(task["status"], task["tries"]) for task in plan["tasks"]]
    assert ends == [("failed", 3), ("skipped", 0), ("skipped", 0), ("skipped", 0)]
    assert "USD" in plan["tasks"][0]["error"]["detail"]
    assert "0 of 4 tasks succeeded." in summary and "USD" in summary
    assert demo_stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"] == []


def causes_of(report: str) -> list[Decimal]:
    """What the differences of each cause add up to, as the report says."""
    return [Decimal(t.replace(",", "")) for t in re.findall(r"net EUR (-?[\d,.]+\d)", report)]
