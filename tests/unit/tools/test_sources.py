"""Tools of sources are built by name, describe what there is, and give errors that help."""

import asyncio
import re
from threading import Event, Thread
from uuid import uuid4

import pytest

from backend.auth.scope import LOCAL_USER
from backend.data.results import Limits
from backend.data.sources import Sources
from backend.errors.base import InvalidInput
from backend.tools.context import CALL_ID, ToolContext
from backend.tools.registry import TOOLS, Effect, build_tools, check_tool_names
from backend.tools.sources import querying as sources_tools


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
    compared = call("compare_sources", left="messy", right="messy", keys=["amount"],
                    measure="amount")  # fmt: skip
    other = call("query_source", source="plan", sql="SELECT SUM(plan) FROM plan")

    assert "Windows-1252" in described.content
    assert "separated by semicolons; 1 line of titles above" in described.content
    assert "dates written as dd.mm.yy" in described.content
    assert "Line 5 is the total of the others and was left out" in described.content
    assert queried.artifact["rows"] == [[1236.06]]
    assert "NOTE on messy.messy: Line 5 is the total" in queried.content
    for answer in (queried, compared):
        assert any("is the total" in note for note in answer.artifact["notes"])
    assert "NOTE" not in other.content


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
