"""A session taken away: as Markdown, as a page, and its tables as a workbook."""

import io
import json
from uuid import uuid4

import openpyxl
import pytest

from backend.tabular.chart_places import NOT_DRAWN
from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import check_problem, make_domain, make_session
from tests.stack import Stack

HOSTILE = "<script>alert(1)</script> ![x](http://elsewhere/x.png) [y](javascript:alert(1))"
TABLE: JSON = {
    "title": "Budget",
    "columns": [{"name": "name", "type": "VARCHAR"}, {"name": "amount", "type": "DOUBLE"}],
    "rows": [["=1+1", 1234.5], ["a | b", None]],
    "row_count": 3,
    "complete": True,
}
CHART: JSON = {
    "mark": "bar",
    "encoding": {
        "x": {"field": "name", "type": "nominal"},
        "y": {"field": "amount", "type": "quantitative"},
    },
    "title": "Budget <by> name",
}
ANSWER = "The **budget**:\n\n| Name | Left |\n|---|---:|\n| CC-1 | 5.25 |\n"
ROWS: list[tuple[str, str, JSON, JSON]] = [
    ("user", "text", {"text": f"What is it? {HOSTILE}"}, {}),
    ("assistant", "tool_call",
     {"call_id": "c", "name": "query_source", "arguments": {"source": "fi", "sql": "SELECT 1"}},
     {}),
    ("tool", "tool_result",
     {"tool_call_id": "c", "name": "query_source", "content": "x", "is_error": False},
     {"table": TABLE}),
    ("assistant", "text", {"text": ANSWER + HOSTILE}, {}),
    ("user", "text", {"text": "Of another branch"}, {}),
]  # fmt: skip


@pytest.fixture
def session_id(stack: Stack) -> str:
    session_id = make_session(stack, title="Budget / größer")
    for position, (speaker, kind, content, metadata) in enumerate(ROWS, 1):
        stack.query_and_commit(
            """INSERT INTO display_messages
                 (conversation_id, position, message_type, content_type, status, content, metadata)
               VALUES (CAST(:session AS uuid), :position, :speaker, :kind, 'completed',
                 CAST(:content AS jsonb), CAST(:metadata AS jsonb))""",
            session=session_id, position=position, speaker=speaker, kind=kind,
            content=json.dumps(content), metadata=json.dumps(metadata),
        )  # fmt: skip
    stack.query_and_commit(
        """UPDATE conversations SET message_count = 5, path = '[[1, 4]]'
           WHERE id = CAST(:id AS uuid)""",
        id=session_id,
    )
    return session_id


def export(stack: Stack, session_id: str, format: str, **reader: str):
    return stack.client.get(f"/sessions/{session_id}/export", params={"format": format, **reader})


def test_markdown_has_the_branch_that_is_shown_and_says_what_is_cut(
    stack: Stack, session_id: str
) -> None:
    answer = export(stack, session_id, "markdown")

    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "gr%C3%B6%C3%9Fer.md" in answer.headers["content-disposition"]
    assert answer.text.index("What is it?") < answer.text.index("SELECT 1")
    assert "2 of 3 rows" in answer.text
    assert "| =1+1 | 1,234.50 |\n| a \\| b | \u2013 |" in answer.text
    assert "The **budget**:" in answer.text
    assert "Of another branch" not in answer.text


def test_the_page_loads_and_runs_nothing(stack: Stack, session_id: str) -> None:
    page = export(stack, session_id, "html").text

    assert "default-src 'none'" in page
    assert "@media print" in page
    assert "<strong>budget</strong>" in page
    assert "1,234.50" in page
    for forbidden in ("<script", "<img", 'href="javascript:', "src="):
        assert forbidden not in page, forbidden
    assert "Of another branch" not in page


def test_a_result_that_was_shown_as_a_chart_has_its_picture_on_the_page(
    stack: Stack, session_id: str
) -> None:
    for chart in (CHART, {"mark": "bar", "encoding": {"x": {"field": "unknown"}}}):
        stack.query_and_commit(
            """UPDATE display_messages
               SET metadata = jsonb_set(metadata, '{table,chart}', CAST(:chart AS jsonb))
               WHERE conversation_id = CAST(:id AS uuid) AND content_type = 'tool_result'""",
            chart=json.dumps(chart), id=session_id,
        )  # fmt: skip
        page, text = (export(stack, session_id, form).text for form in ("html", "markdown"))

        assert "the HTML export draws its chart" in text
        assert "1,234.50" in page
        if chart is CHART:
            assert page.count("<svg") == 1
            said = "Budget &lt;by&gt; name (drawn from the first 2 of 3 rows)"
            assert f"<figcaption>{said}</figcaption>" in page
        else:
            assert "<svg" not in page and NOT_DRAWN in page


def test_a_document_is_written_for_its_reader(stack: Stack, session_id: str) -> None:
    by_month = {
        "mark": "bar",
        "encoding": {
            "x": {"field": "name", "type": "nominal"},
            "y": {"field": "amount", "type": "quantitative"},
        },
    }
    stack.query_and_commit(
        """UPDATE display_messages
           SET metadata = jsonb_set(metadata, '{table,chart}', CAST(:chart AS jsonb)),
             created_at = '2026-07-14 22:30+00'
           WHERE conversation_id = CAST(:id AS uuid)""",
        chart=json.dumps(by_month), id=session_id,
    )  # fmt: skip
    german = {"locale": "de-DE", "timezone": "Europe/Berlin"}

    page, text = (export(stack, session_id, form, **german).text for form in ("html", "markdown"))

    assert "| =1+1 | 1.234,50 |" in text
    assert "15.07.2026 00:30 CEST" in text and "15.07.2026 00:30 CEST</time>" in page
    assert 'datetime="2026-07-14T22:30:00+00:00"' in page
    assert ">1.234,50</td>" in page
    assert ">0,5k</text>" in page, "the chart's axis"
    assert "2026-07-14 22:30 UTC" in export(stack, session_id, "markdown").text


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        ({"locale": "xx-YY"}, "xx-YY is unknown"),
        ({"timezone": "Europe/Nowhere"}, "Europe/Nowhere is unknown"),
        ({"timezone": "../../etc/passwd"}, "is unknown"),
    ],
)
def test_an_unknown_locale_or_timezone_is_refused(
    stack: Stack, session_id: str, reader: dict[str, str], said: str
) -> None:
    problem = check_problem(export(stack, session_id, "html", **reader), 422)

    assert said in problem["detail"]


@pytest.mark.parametrize("name", ["locale", "timezone"])
def test_an_empty_locale_or_timezone_is_refused(stack: Stack, session_id: str, name: str) -> None:
    check_problem(export(stack, session_id, "html", **{name: ""}), 422)


def test_a_workbook_has_no_reader(stack: Stack, session_id: str) -> None:
    check_problem(export(stack, session_id, "xlsx", locale="de-DE"), 422)
    check_problem(export(stack, session_id, "xlsx", timezone="Europe/Berlin"), 422)


def test_the_workbook_has_answers_first_and_tables_of_tools_on_request(
    stack: Stack, session_id: str
) -> None:
    of_answers, of_all = (
        openpyxl.load_workbook(io.BytesIO(export(stack, session_id, "xlsx", **asked).content))
        for asked in ({}, {"tool_tables": "true"})
    )

    assert of_answers.sheetnames == ["Answer", "Contents"]
    assert of_answers["Answer"]["B2"].value == 5.25
    assert [cell.value for cell in of_answers["Contents"][3]] == [
        "1 table", "tools", None,
        "not in this workbook: export with the tables of tools to have them",
    ]  # fmt: skip
    assert of_all.sheetnames == ["Answer", "Budget", "Contents"]
    cells = next(of_all["Budget"].iter_rows(min_row=2))
    assert [(cell.value, cell.data_type) for cell in cells] == [("=1+1", "s"), (1234.5, "n")]
    assert "2 of 3 rows are kept" in str(of_all["Contents"]["D3"].value)
    check_problem(export(stack, session_id, "html", tool_tables="true"), 422)


def test_approvals_are_told_in_words_with_what_ran_instead(stack: Stack) -> None:
    rule = {"tools": "query_source", "action": "ask"}
    domain = make_domain(stack, middleware=[{"approvals": {"rules": [rule]}}])
    session_id = make_session(stack, domain["name"])
    args = {"source": "fi", "sql": "SELECT 1"}
    calls = script({"tools": [{"name": "query_source", "args": args}] * 2}, {"text": "Done."})
    turn_id = stack.submit(calls, session_id)["turn_id"]
    stack.wait_for(lambda: stack.turn(turn_id)["status"] == "waiting", "no call waits")
    waiting = export(stack, session_id, "markdown").text
    decisions = [{"type": "edit", "args": {**args, "sql": "SELECT 2"}}, {"type": "reject"}]
    answer = stack.client.post(f"/turns/{turn_id}/decisions", json={"decisions": decisions})
    assert answer.status_code == 200, answer.text
    stack.finished(turn_id)

    text, page = (export(stack, session_id, form).text for form in ("markdown", "html"))

    assert "> query_source waits for a decision." in waiting
    assert "**query_source: edited by local**" in text and '"sql": "SELECT 2"' in text
    assert "> query_source: rejected by local." in text
    assert "<summary>query_source: edited by local</summary>" in page
    for document in (waiting, text, page):
        assert "arguments_hash" not in document and "args_schema" not in document


def test_a_session_without_anything_is_exported_too(stack: Stack) -> None:
    session_id = make_session(stack)

    for format in ("markdown", "html", "xlsx"):
        assert export(stack, session_id, format).status_code == 200


def test_an_unknown_format_or_session_is_refused(stack: Stack, session_id: str) -> None:
    check_problem(export(stack, session_id, "pdf"), 422)
    check_problem(export(stack, str(uuid4()), "html"), 404)
