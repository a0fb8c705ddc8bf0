"""Artifacts as agents make them and people read them: versions, differences, downloads, scope."""

import csv
import io
from functools import partial
from typing import Any
from uuid import uuid4

import openpyxl
import pyarrow.parquet as pq
import pytest

from backend.types import JSON
from tests.integration.artifacts.scenes import call, desk, download, made, make, version
from tests.integration.scenes import check_problem, check_views
from tests.stack import Stack

SPEND = """SELECT cost_centre, SUM(amount_group) AS spend FROM totals WHERE cost_centre IS NOT NULL
GROUP BY cost_centre ORDER BY cost_centre"""
HOSTILE = '../../x"\r\nSet-Cookie: a=b <script>alert(1)</script> \u202e=cmd|\U0001f600'


@pytest.fixture(scope="module")
def session_id(shared_stack: Stack) -> str:
    return desk(shared_stack)


def test_a_table_of_a_query_never_passes_through_the_model(stack: Stack, session_id: str) -> None:
    named = make(stack, session_id, "table", "Spend", source="fi", query=SPEND)
    found = version(stack, named, offset=1, limit=2)
    rows, _ = check_views(stack, session_id)

    assert (named["version"], named["kind"], named["title"]) == (1, "table", "Spend")
    kinds = [row["content_type"] for row in rows]
    assert kinds[kinds.index("artifact") - 1] == "tool_result"
    assert [c["name"] for c in found["preview"]["columns"]] == ["cost_centre", "spend"]
    assert found["preview"]["total_rows"] > 2
    assert len(found["preview"]["rows"]) == 2
    assert (found["agent"], found["turn_id"]) == ("maker", rows[-1]["turn_id"])
    assert found["origin"]["query"] == SPEND
    assert {"tool", "call_id", "source", "fingerprint"} <= set(found["origin"])
    listed = stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    assert named["artifact_id"] in [one["id"] for one in listed]


def test_equal_content_makes_no_version_and_another_one_does(stack: Stack, session_id: str) -> None:
    named = make(stack, session_id, "document", "Report", content="# One\n\nA line.\n")
    same = call(stack, session_id, "revise_artifact", artifact_id=named["artifact_id"],
                content="# One\n\nA line.\n")  # fmt: skip
    call(stack, session_id, "revise_artifact", artifact_id=named["artifact_id"],
         content="# One\n\nAnother line.\n", title="Report, revised")  # fmt: skip
    second = made(stack, session_id)
    told = stack.client.get(
        f"/artifacts/{named['artifact_id']}/diff", params={"before": 1, "after": 2}
    ).json()

    assert "content is equal" in same
    assert (second["version"], second["title"]) == (2, "Report, revised")
    assert version(stack, named, 1)["preview"]["text"] == "# One\n\nA line.\n"
    assert [v["version"] for v in version(stack, second)["versions"]] == [2, 1]
    assert (told["kind"], told["added"], told["removed"]) == ("lines", 1, 1)
    assert "-A line." in told["lines"] and "+Another line." in told["lines"]


def test_a_table_is_given_in_each_of_its_forms(stack: Stack, session_id: str) -> None:
    content = [{"name": "=1+1", "amount": 1.5}, {"name": 'a "b", c', "amount": None}]
    named = make(stack, session_id, "table", HOSTILE, content=content)
    as_csv, as_xlsx, as_parquet = (
        download(stack, named, form) for form in ("csv", "xlsx", "parquet")
    )
    refused = download(stack, named, "svg")

    assert as_csv.text == '"name","amount"\r\n"\'=1+1","1.5"\r\n"a ""b"", c",""\r\n'
    assert list(csv.reader(io.StringIO(as_csv.text)))[2] == ['a "b", c', ""]
    sheet = openpyxl.load_workbook(io.BytesIO(as_xlsx.content)).active
    assert sheet is not None
    assert [cell.value for cell in sheet[2]] == ["=1+1", 1.5]
    assert pq.read_table(io.BytesIO(as_parquet.content)).to_pylist() == content
    for answer in (as_csv, as_xlsx, as_parquet):
        told = answer.headers["content-disposition"]
        assert told.startswith('attachment; filename="')
        assert "/" not in told and "<" not in told and "set-cookie" not in answer.headers
    assert "csv, xlsx, parquet" in check_problem(refused, 422)["detail"]


def test_a_table_of_a_message_is_read_whole_in_its_session_only(stack: Stack) -> None:
    session_id, other = desk(stack), desk(stack)
    call(stack, session_id, "query_source", source="fi", sql="SELECT 42 AS answer")
    results = [row for row in stack.messages(session_id) if row["content_type"] == "tool_result"]
    path = f"messages/{results[-1]['id']}/tables/1"

    table = stack.client.get(f"/sessions/{session_id}/{path}").json()

    assert table["rows"] == [[42]]
    as_csv = stack.client.get(f"/sessions/{session_id}/{path}?format=csv")
    assert as_csv.text == '"answer"\r\n"42"\r\n'
    check_problem(stack.client.get(f"/sessions/{other}/{path}"), 404)


def test_a_chart_of_an_artifact_is_drawn_and_loads_nothing(stack: Stack, session_id: str) -> None:
    table = make(stack, session_id, "table", "Spend", source="fi", query=SPEND)
    call(stack, session_id, "make_chart", artifact_id=table["artifact_id"], title="Drawn")
    named = made(stack, session_id)
    found = version(stack, named)
    svg, png = download(stack, named, "svg"), download(stack, named, "png")
    refused = call(stack, session_id, "make_artifact", kind="chart", title="Bad",
                   data_id=table["artifact_id"], content={"mark": "bar", "data": {"url": "http://x"},
                   "encoding": {"x": {"field": "spend"}}})  # fmt: skip

    drawn = stack.client.get(f"/artifacts/{named['artifact_id']}/versions/1/table?format=chart")
    table_path = f"/artifacts/{table['artifact_id']}/versions/1/table"

    assert named["kind"] == "chart"
    assert drawn.json()["spec"]["data"]["values"]
    check_problem(stack.client.get(table_path), 422)
    assert found["preview"]["data"] == {"artifact_id": table["artifact_id"], "version": 1}
    assert found["preview"]["table"]["rows"]
    assert svg.status_code == 200, svg.text
    assert svg.text.startswith("<svg") and "cost_centre" in svg.text
    assert png.content.startswith(b"\x89PNG")
    assert "cannot be drawn" in refused and "'data'" in refused


def test_a_document_as_a_page_runs_nothing(stack: Stack, session_id: str) -> None:
    text = "# Hi\n\n<script>alert(1)</script>\n\n![x](http://127.0.0.1:1/x.png) [a](javascript:b)\n"
    named = make(stack, session_id, "document", "<script>", content=text)
    page, markdown = download(stack, named, "html"), download(stack, named, "md")

    assert "<h1>Hi</h1>" in page.text
    assert "<script" not in page.text and "<img" not in page.text
    assert 'href="javascript' not in page.text
    assert "default-src 'none'" in page.text
    assert markdown.text == text


def test_an_agent_reads_what_it_made_and_only_in_its_session(stack: Stack, session_id: str) -> None:
    value: JSON = {"b": [1, 2.5, None], "a": {"ä": True}}
    named = make(stack, session_id, "json", "Value", content=value)
    read = call(stack, session_id, "read_artifact", artifact_id=named["artifact_id"])
    other = desk(stack)
    elsewhere = call(stack, other, "read_artifact", artifact_id=named["artifact_id"])
    nonsense = call(stack, other, "read_artifact", artifact_id="../etc")

    assert version(stack, named)["preview"]["value"] == value
    assert '"ä": true' in read
    assert "There is no such artifact" in elsewhere
    assert "no artifact's id" in nonsense


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "table", "query": "SELECT 1"}, "both `source` and `query`"),
        ({"kind": "table", "source": "fi", "query": "DELETE FROM totals"}, "SELECT"),
        ({"kind": "table", "content": "no rows"}, "list of objects"),
        ({"kind": "document", "content": {"a": 1}}, "text in Markdown"),
        ({"kind": "document", "title": "\u200b \n", "content": "x"}, "needs a visible title"),
        ({"kind": "json", "content": 2**70}, "64 bits"),
    ],
)
def test_what_cannot_be_made_is_told(
    stack: Stack, session_id: str, given: dict[str, Any], said: str
) -> None:
    assert said in call(stack, session_id, "make_artifact", **{"title": "T", **given})


def test_the_api_refuses_what_is_not_there_or_not_known(stack: Stack, session_id: str) -> None:
    named = make(stack, session_id, "document", content="x")
    path = f"/artifacts/{named['artifact_id']}"
    get = stack.client.get

    check_problem(get(f"/artifacts/{uuid4()}"), 404)
    check_problem(get(f"{path}/versions/9"), 404)
    check_problem(get(f"/sessions/{uuid4()}/artifacts"), 404)
    check_problem(get(f"{path}/diff", params={"before": 1, "after": 7}), 404)
    check_problem(get(f"{path}/versions/1", params={"rows": 3}), 422)
    check_problem(get(f"{path}/versions/1", params={"limit": 100_000}), 422)
    check_problem(get(f"{path}/versions/1/download", params={"format": "exe"}), 422)
    check_problem(get(f"{path}/diff", params={"before": 1, "after": 1, "key": "a"}), 422)


def test_a_key_that_is_no_column_is_refused_between_equal_versions_too(
    stack: Stack, session_id: str
) -> None:
    table = make(stack, session_id, "table", content=[{"month": 1}, {"month": 2}])
    path = f"/artifacts/{table['artifact_id']}/diff"
    get = partial(stack.client.get, path)

    refused = get(params={"before": 1, "after": 1, "key": "mouth"})
    assert "'mouth' is not a column" in check_problem(refused, 422)["detail"]
    assert get(params={"before": 1, "after": 1, "key": "month"}).json()["is_equal"]


def test_a_page_of_what_has_none_is_refused(stack: Stack, session_id: str) -> None:
    rows = [{"month": n, "amount": n} for n in range(3)]
    table = make(stack, session_id, "table", content=rows)
    document = make(stack, session_id, "document", content="A report.")
    brief = make(stack, session_id, "json", content={"a": 1})

    for named, asked, reason in (
        (document, {"limit": 5}, "only tables have them"),
        (brief, {"limit": 5}, "only tables have them"),
        (brief, {"offset": 5}, "Leave out offset"),
    ):
        path = f"/artifacts/{named['artifact_id']}/versions/1"
        told = check_problem(stack.client.get(path, params=asked), 422)
        assert reason in told["detail"]

    assert version(stack, document, offset=2)["preview"]["text"] == "report."
    assert version(stack, brief, offset=0)["preview"]["value"] == {"a": 1}
    assert version(stack, table, offset=1, limit=1)["preview"]["rows"] == [[1, 1]]


def test_an_export_shows_artifacts(stack: Stack) -> None:
    session_id = desk(stack)
    make(stack, session_id, "table", "Spend by centre", source="fi", query=SPEND)
    make(stack, session_id, "document", "Findings", content="It is **fine**.")
    page = stack.client.get(f"/sessions/{session_id}/export", params={"format": "html"}).text
    text = stack.client.get(f"/sessions/{session_id}/export").text
    book = stack.client.get(f"/sessions/{session_id}/export", params={"format": "xlsx"}).content

    assert "Spend by centre" in page and "<td>CC-1001</td>" in page
    assert "<strong>fine</strong>" in page
    assert "It is **fine**." in text and "| CC-1001 |" in text
    sheets = openpyxl.load_workbook(io.BytesIO(book)).sheetnames
    assert "Spend by centre (1)" in sheets
