"""A person's own query over the API: the agents' tool without a turn, and nothing else."""

import csv
import io
from uuid import uuid4

import openpyxl
import pytest

from backend.types import JSON
from tests.integration.scenes import check_problem, check_views, make_domain, make_session
from tests.stack import Stack

COUNT = "SELECT company_code, COUNT(*) AS documents FROM documents GROUP BY 1 ORDER BY 1"


def run(stack: Stack, session_id: str, sql: str, source: str = "fi", **query: str):
    body = {"source": source, "sql": sql}
    return stack.client.post(f"/sessions/{session_id}/query", json=body, params=query)


def test_a_query_gives_its_table_and_leaves_no_trace(stack: Stack) -> None:
    session_id = make_session(stack)
    before = stack.client.get(f"/sessions/{session_id}").json()

    table = run(stack, session_id, COUNT).json()

    assert [column["name"] for column in table["columns"]] == ["company_code", "documents"]
    assert table["row_count"] == len(table["rows"]) > 1
    assert table["complete"] is True
    assert stack.client.get(f"/sessions/{session_id}").json() == before
    rows, state = check_views(stack, session_id)
    assert (rows, state["messages"]) == ([], [])


def test_uploaded_files_are_queried_like_the_agents_do(stack: Stack) -> None:
    session_id, other = make_session(stack), make_session(stack)
    files = {
        name: stack.client.post(
            "/files", files={"file": (f"{name}.csv", b"a,b\n1,2\n3,4\n")}, data=of
        ).json()["source"]
        for name, of in (("shared", {}), ("own", {"session_id": session_id}))
    }
    sql = "SELECT SUM(b) AS total FROM {}"

    for source in files.values():
        assert run(stack, session_id, sql.format(source), source).json()["rows"] == [[6]]
    joined = "SELECT COUNT(*) FROM documents, {0}.{0} WHERE a = 1".format(files["own"])
    assert run(stack, session_id, joined).status_code == 200
    assert run(stack, other, sql.format(files["shared"]), files["shared"]).status_code == 200
    check_problem(run(stack, other, sql.format(files["own"]), files["own"]), 404)


def test_it_comes_as_csv_in_quotes_and_as_a_workbook_without_formulas(stack: Stack) -> None:
    session_id = make_session(stack)
    sql = "SELECT '=1+1' AS formula, 2.5 AS amount, NULL AS nothing"

    text = run(stack, session_id, sql, format="csv").text
    book = openpyxl.load_workbook(io.BytesIO(run(stack, session_id, sql, format="xlsx").content))

    assert text.splitlines()[1] == '"\'=1+1","2.5",""'
    assert next(csv.reader(io.StringIO(text))) == ["formula", "amount", "nothing"]
    cells = next(book.worksheets[0].iter_rows(min_row=2))
    assert [(cell.value, cell.data_type) for cell in cells[:2]] == [("=1+1", "s"), (2.5, "n")]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DELETE FROM documents", "read-only"),
        ("SELECT 1; SELECT 2", "Only one SELECT"),
        ("SELECT * FROM read_csv('/etc/passwd')", "FROM"),
        ("SELECT * FROM dokuments", "documents"),
        ("SELECT nonsense FROM documents", "nonsense"),
    ],
)
def test_what_the_agents_tool_refuses_is_refused(stack: Stack, sql: str, said: str) -> None:
    problem = check_problem(run(stack, make_session(stack), sql), 422)

    assert said in problem["detail"]


@pytest.mark.parametrize(
    "body",
    [{"source": "fi"}, {"sql": "SELECT 1"}, {"source": "fi", "sql": ""}, {},
     {"source": "fi", "sql": "SELECT 1", "limit": 5}, {"source": 1, "sql": "SELECT 1"}],
)  # fmt: skip
def test_a_body_that_is_no_query_is_refused(stack: Stack, body: JSON) -> None:
    session_id = make_session(stack)

    check_problem(stack.client.post(f"/sessions/{session_id}/query", json=body), 422)


def test_an_unknown_source_session_or_format_is_said(stack: Stack) -> None:
    session_id = make_session(stack)

    check_problem(run(stack, session_id, "SELECT 1", source="fy"), 404)
    check_problem(run(stack, str(uuid4()), "SELECT 1"), 404)
    check_problem(run(stack, session_id, "SELECT 1", format="ods"), 422)


def test_a_session_whose_agents_may_not_query_refuses_people_too(stack: Stack) -> None:
    domain = make_domain(stack, tools=["list_sources"])

    check_problem(run(stack, make_session(stack, domain["id"]), "SELECT 1"), 403)


def test_a_result_is_kept_as_an_artifact_with_its_query(stack: Stack) -> None:
    session_id, path = make_session(stack), "/sessions/{}/query/artifact"
    body = {"source": "fi", "sql": COUNT, "title": " Documents  by company "}

    made = stack.client.post(path.format(session_id), json=body)

    assert made.status_code == 201, made.text
    kept = stack.client.get(f"/artifacts/{made.json()['id']}/versions/1").json()
    assert (kept["title"], kept["agent"], kept["kind"]) == ("Documents by company", None, "table")
    assert kept["origin"]["query"] == COUNT and kept["origin"]["source"] == "fi"
    assert kept["preview"]["rows"] == run(stack, session_id, COUNT).json()["rows"]

    for wrong in ({"title": " "}, {"sql": "DROP TABLE documents"}, {"colour": "red"}):
        assert stack.client.post(path.format(session_id), json=body | wrong).status_code == 422
    check_problem(stack.client.post(path.format(uuid4()), json=body), 404)
    listed = stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    assert [one["id"] for one in listed] == [made.json()["id"]]
