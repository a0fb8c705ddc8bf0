"""What tools say of figures is what their sources hold, and they say what they left out."""

import json

import pytest

from backend.data.results import Column, Limits, Table
from backend.tools.sources import presenting
from backend.tools.sources import querying as sources_tools

SPEND = "SELECT company_code, SUM(amount_group) AS spend FROM documents GROUP BY 1"


def test_a_chart_is_kept_with_its_table_and_its_checked_specification(call):
    encoding = {
        "x": {"field": "company_code", "type": "nominal"},
        "y": {"field": "spend", "type": "quantitative"},
    }
    spec = {"mark": "bar", "encoding": encoding}

    drawn = call("make_chart", source="fi", sql=SPEND, title="Spend", spec=spec)
    fitting = call("make_chart", source="fi", sql=SPEND, title="Spend")

    assert drawn.artifact["chart"] == {**spec, "mark": {"type": "bar"}}
    assert drawn.artifact["rows"] == call("query_source", source="fi", sql=SPEND).artifact["rows"]
    assert fitting.artifact["chart"]["encoding"]["y"]["field"] == "spend"
    assert "The chart is drawn" in drawn.content


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"mark": "bar", "encoding": {}}, "encoding"),
        ({"mark": "geoshape", "encoding": {"x": {"field": "spend"}}}, "mark.type is one of"),
        ({"mark": "bar", "encoding": {"x": {"field": "spent"}}}, "columns are: company_code"),
        ({"mark": "bar", "data": {"url": "http://elsewhere"}}, "'data' is not taken"),
        ({"mark": "bar", "transform": [], "encoding": {}}, "'transform' is not taken"),
        ({"mark": {"type": "bar", "href": "x"}, "encoding": {}}, "'href' is not taken"),
        ({"mark": "bar", "encoding": {"href": {"field": "spend"}}}, "'href' is not taken"),
        ({"mark": "bar", "encoding": {"x": {"expr": "1"}}}, "'expr' is not taken"),
        ({"mark": "bar", "encoding": {"x": {"field": "spend", "title": "x" * 999}}}, "120"),
        ({"mark": "bar", "encoding": {"x": {"field": "spend", "sort": {"expr": "1"}}}}, "sort"),
    ],
)
def test_a_chart_that_is_not_taken_says_what_to_change(call, spec, said):
    answer = call("make_chart", source="fi", sql=SPEND, title="Spend", spec=spec)

    assert answer.status == "error"
    assert said in answer.content


def test_a_large_result_is_kept_whole_and_the_model_sees_an_excerpt_and_is_told(call):
    answer = call("query_source", source="fi", sql="SELECT * FROM documents", title="All")

    assert answer.artifact["row_count"] == len(answer.artifact["rows"]) > 40_000
    assert answer.artifact["complete"] is True
    assert answer.artifact["title"] == "All"
    assert len(answer.content) < 12_000
    assert "EXCERPT: the first" in answer.content
    json.dumps(answer.artifact, allow_nan=False)


def test_a_result_beyond_the_limits_says_that_it_is_incomplete(call, monkeypatch):
    monkeypatch.setattr(sources_tools, "QUERY_LIMITS", Limits(rows=7))

    answer = call("query_source", source="fi", sql="SELECT * FROM documents")

    assert answer.artifact["row_count"] == 7
    assert answer.artifact["complete"] is False
    assert "INCOMPLETE: reading stopped at the limit of 7 rows" in answer.content


@pytest.mark.parametrize("spelling", ["CC-1001", "cc1001", "1001", "cc 1001", "Marketing"])
def test_a_budget_is_found_under_each_spelling_of_its_cost_centre(call, spelling):
    answer = call("get_budget", cost_centre=spelling)

    ((year, budget, actual, remaining, used, _),) = answer.artifact["rows"]
    assert "CC-1001 Marketing" in answer.content
    assert year == 2026
    assert remaining == pytest.approx(budget - actual)
    assert used == pytest.approx(100 * actual / budget, abs=0.1)


def test_a_budget_by_period_sums_to_the_year_and_matches_the_ledger(call, sources):
    year = call("get_budget", cost_centre="CC-2001", fiscal_year=2025).artifact["rows"][0]
    periods = call("get_budget", cost_centre="CC-2001", fiscal_year=2025, by="period").artifact[
        "rows"
    ]
    ledger = call(
        "query_source",
        source="fi",
        sql="SELECT SUM(amount_group) FROM documents WHERE cost_centre = 'CC-2001' "
        "AND fiscal_year = 2025 AND trading_partner IS NULL",
    ).artifact["rows"]

    assert len(periods) == 12
    assert sum(row[1] for row in periods) == pytest.approx(year[1])
    assert sum(row[2] for row in periods) == pytest.approx(year[2])
    assert ledger[0][0] == pytest.approx(year[2])


def test_sources_are_compared_with_differences_ranked_and_classed(call):
    answer = call(
        "compare_sources",
        left="fi.totals",
        right="bpc.figures",
        keys=["fiscal_period", "company_code", "cost_centre", "group_account"],
        measure="amount_group",
        filters={"fiscal_year": 2026},
        right_filters={"version": "ACTUAL"},
    )

    columns = [column["name"] for column in answer.artifact["columns"]]
    rows = [dict(zip(columns, row, strict=True)) for row in answer.artifact["rows"]]
    sizes = [abs(row["difference"]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert {row["class"] for row in rows} == {"match", "minor", "major"}
    assert "offset by fiscal_period 10" in {row["hint"] for row in rows}
    assert "11 major" in answer.content


def test_a_file_is_compared_with_the_ledger_by_differently_named_columns(call):
    answer = call(
        "compare_sources",
        left="plan.plan",
        right="bpc.figures",
        keys=["cc"],
        right_keys=["cost_centre"],
        measure="plan",
        right_measure="amount_group",
        right_filters={"version": "BUDGET", "fiscal_year": 2026, "cost_centre": ["CC-1001"]},
    )

    assert [row[:3] for row in answer.artifact["rows"]] == [
        ["CC-1001", 1200000.0, 1285200.0],
        ["CC-1002", 9.0, None],
    ]


def test_cells_cannot_break_out_of_the_excerpt():
    table = Table((Column("a|b", "VARCHAR"),), [["x | y\n| z |"], ["\\"], ["w" * 5000]])

    text = presenting.excerpt("T", table)

    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 5
    assert "x \\| y" in text
    assert "(5,000 characters)" in text
