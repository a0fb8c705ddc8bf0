"""The tools over sources, called as an agent calls them."""

import asyncio
import json
import re
from threading import Event, Thread
from uuid import uuid4

import pytest

from backend.auth.scope import LOCAL_USER
from backend.data.results import Column, Limits, Table
from backend.data.sources import Sources
from backend.errors.base import InvalidInput
from backend.tools.context import CALL_ID, ToolContext
from backend.tools.registry import TOOLS, Effect, build_tools, check_tool_names
from backend.tools.sources import presenting
from backend.tools.sources import querying as sources_tools


@pytest.fixture(scope="module")
def sources(tmp_path_factory, sandbox):
    home = tmp_path_factory.getbasetemp() / "shared-finance"
    (home / "sources").mkdir(parents=True, exist_ok=True)
    (home / "sources" / "plan.csv").write_text("cc,plan\nCC-1001,1200000\nCC-1002,9\n")
    messy = "Umsätze in €\nTag;amount\n31.08.24;1.234,56\n01.09.24;1,50\nSumme;1.236,06\n"
    (home / "sources" / "messy.csv").write_bytes(messy.encode("cp1252"))
    return Sources(home, {}, sandbox)


@pytest.fixture
def call(sources):
    tools = {
        t.name: t for t in build_tools(None, ToolContext(sources, uuid4(), uuid4(), LOCAL_USER))
    }

    def run(name, **arguments):
        request = {"type": "tool_call", "id": "call_1", "name": name, "args": arguments}
        return asyncio.run(tools[name].ainvoke(request))

    return run


def test_the_registry_names_the_tools_and_their_effects():
    names = ["list_sources", "describe_source", "query_source", "get_budget", "compare_sources"]
    names.append("make_chart")
    names += ["read_document", "search_document"]
    names += ["make_artifact", "read_artifact", "revise_artifact", "keep_file"]
    writing = {name for name, spec in TOOLS.items() if spec.effect is not Effect.READ_ONLY}

    assert list(TOOLS) == names
    assert writing == {"make_artifact", "revise_artifact", "keep_file"}
    assert {TOOLS[name].effect for name in writing} == {Effect.IDEMPOTENT}
    check_tool_names(names)
    with pytest.raises(InvalidInput, match="no tool 'get_buget'"):
        check_tool_names(["get_buget"])


def test_named_tools_are_built_once_and_in_order(sources):
    context = ToolContext(sources, uuid4(), uuid4(), LOCAL_USER)

    built = build_tools(["get_budget", "list_sources", "get_budget"], context)

    assert [tool.name for tool in built] == ["get_budget", "list_sources"]
    for tool in build_tools(None, context):
        assert len(tool.description) > 60
        assert all("description" in field for field in tool.args.values())


def test_sources_are_listed_and_described(call):
    listed = call("list_sources")
    described = call("describe_source", source="fi", table="documents")

    assert [row[0] for row in listed.artifact["rows"]] == ["fi", "bpc", "messy", "plan"]
    assert "documents (47" in listed.content
    assert "| documents | cost_centre | VARCHAR |" in described.content
    assert {row[0] for row in described.artifact["rows"]} == {"documents"}


def test_what_was_understood_of_a_file_is_described_and_said_with_its_figures(call, sources):
    described = call("describe_source", source="messy")
    queried = call("query_source", source="messy", sql="SELECT SUM(amount) FROM messy")
    other = call("query_source", source="plan", sql="SELECT SUM(plan) FROM plan")

    assert "Windows-1252" in described.content
    assert "separated by semicolons; 1 line of titles above" in described.content
    assert "dates written as dd.mm.yy" in described.content
    assert "Line 5 is the total of the others and was left out" in described.content
    assert queried.artifact["rows"] == [[1236.06]]
    assert "NOTE on messy.messy: Line 5 is the total" in queried.content
    assert any("is the total" in note for note in queried.artifact["notes"])
    assert "NOTE" not in other.content


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
        ({"mark": "bar"}, "encoding"),
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


def test_a_query_beyond_its_time_is_an_error_the_model_can_act_on(call, monkeypatch):
    monkeypatch.setattr(sources_tools, "QUERY_LIMITS", Limits(seconds=0.3))
    endless = "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c"

    answer = call(
        "query_source", source="fi", sql=f"{endless} WHERE (a.range+b.range*c.range) % 7 = 3"
    )

    assert answer.status == "error"
    assert "Filter or aggregate more" in answer.content


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("query_source", {"source": "fi", "sql": "SELECT amout FROM bpc.figures"}, "amount_group"),
        ("query_source", {"source": "fii", "sql": "SELECT 1"}, "Did you mean 'fi'?"),
        ("query_source", {"source": "fi", "sql": "DROP TABLE documents"}, "read-only"),
        ("query_source", {"source": "fi", "sql": "SELEC 1"}, "SQL"),
        ("describe_source", {"source": "fi", "table": "document"}, "Did you mean 'documents'?"),
        ("get_budget", {"cost_centre": "CC-9999"}, "CC-1001 Marketing"),
        ("get_budget", {"cost_centre": "CC-1001", "fiscal_year": 1999}, "2025, 2026"),
        (
            "compare_sources",
            {"left": "fi.totals", "right": "bpc.figures", "keys": ["cost_center"], "measure": "x"},
            "Did you mean 'cost_centre'?",
        ),
        (
            "compare_sources",
            {"left": "fi.totals", "right": "bpc.nothing", "keys": ["cost_centre"],
             "measure": "amount_group"},
            "bpc has no table",
        ),
    ],
)  # fmt: skip
def test_errors_are_results_that_help_the_model(call, name, arguments, words):
    answer = call(name, **arguments)

    assert answer.status == "error"
    assert words in answer.content
    assert "Traceback" not in answer.content


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


def test_how_long_a_source_has_been_read_is_told_meanwhile(tmp_path, sandbox):
    file = tmp_path / "sources" / "growing.csv"
    file.parent.mkdir()
    told = Event()
    said = []

    def hear(call_id, text):
        said.append((call_id, text))
        told.set()

    def write():
        while not told.wait(0.05):
            with file.open("a") as lines:
                lines.write("1\n")

    file.write_text("n\n")
    writer = Thread(target=write)
    context = ToolContext(Sources(tmp_path, {}, sandbox), uuid4(), uuid4(), LOCAL_USER, hear)
    (tool,) = build_tools(["query_source"], context)
    CALL_ID.set("call_1")
    writer.start()
    request = {"source": "growing", "sql": "SELECT count(*) > 0 AS has_rows FROM growing"}
    try:
        answer = asyncio.run(tool.ainvoke(request))
    finally:
        told.set()
        writer.join()

    assert said[0][0] == "call_1"
    assert re.fullmatch(r"Reading growing for the first time, \d+ s", said[0][1])
    assert "True" in answer or "true" in answer
