"""Uploaded files as sources: asked in the turn after they came, by whom they are there for."""

from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfWriter

from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views, make_domain, make_session
from tests.messy.drawn import REPORT, SAP
from tests.stack import Stack

TABLE = "Tag;Betrag\n01.07.2026;1,50\n02.08.2026;2,25\n".encode("cp1252")
LETTER = "Dear all,\n\nnotice is given three months before the end.\n" + "More words.\n" * 3_000


def upload(stack: Stack, name: str, content: bytes, **fields: str) -> JSON:
    made = stack.client.post("/files", files={"file": (name, content)}, data=fields)
    assert made.status_code == 201, made.text
    return made.json()


def results(stack: Stack, session_id: str) -> list[str]:
    rows, _ = check_views(stack, session_id)
    return [r["content"]["content"] for r in rows if r["content_type"] == "tool_result"]


def calls(*made: tuple[str, JSON]) -> str:
    tools = [{"name": name, "args": arguments} for name, arguments in made]
    return script(*({"tools": [one]} for one in tools), {"text": "Done."})


def offered(model: ScriptedModel, said: str) -> list[str]:
    """The tools that came with the last request that holds this message."""
    bodies: list[Any] = [r for r in model.requests if said in str(r["messages"])]
    return [tool["function"]["name"] for tool in bodies[-1].get("tools", ())]


def test_a_file_is_asked_in_the_turn_after_it_came(stack: Stack) -> None:
    session_id, other = make_session(stack), make_session(stack)
    made = upload(stack, "takings.csv", TABLE, session_id=session_id)
    source = made["source"]
    sql = f'SELECT sum("Betrag") AS total FROM {source}'
    asked = calls(("list_sources", {}), ("query_source", {"source": source, "sql": sql}))
    stack.chat(asked, session_id)
    stack.chat(asked, other)

    listed, total = results(stack, session_id)
    listed_there, refused = results(stack, other)
    assert "takings.csv" in listed
    assert "3.75" in total
    assert "takings.csv" not in listed_there
    assert f"There is no source '{source}'" in refused


def test_a_report_that_is_laid_out_for_readers_is_asked_as_a_table(stack: Stack) -> None:
    session_id = make_session(stack)
    files = [upload(stack, "gl.txt", REPORT.encode()), upload(stack, "sap.txt", SAP.encode())]
    sums = [("DEBIT", files[0]["source"]), ('"Amount in LC"', files[1]["source"])]
    queries = [{"source": of, "sql": f"SELECT sum({what}) AS total FROM {of}"} for what, of in sums]
    stack.chat(calls(*(("query_source", query) for query in queries)), session_id)

    report, listed = results(stack, session_id)
    assert "1334.46" in report and "1005" in listed
    assert [file["summary"] for file in files] == [
        "Read as UTF-8, in columns of fixed width, decimal point; two title lines and the total"
        " in line 10 skipped.",
        "Read as UTF-8, separated by bars, decimal comma; two title lines and three totals"
        " skipped.",
    ]


def test_a_corrected_file_is_asked_as_it_was_corrected(stack: Stack) -> None:
    session_id = make_session(stack)
    made = upload(stack, "codes.csv", b"nr;x\n0012;1\n0013;2\n", session_id=session_id)
    sql = f"SELECT sum(nr) FROM {made['source']}"
    asked = calls(("query_source", {"source": made["source"], "sql": sql}))
    stack.chat(asked, session_id)
    stack.client.patch(f"/files/{made['id']}", json={"types": {"nr": "integer"}})
    stack.chat(asked, session_id)

    before, after = results(stack, session_id)
    assert before.startswith("Error")
    assert "25" in after


@pytest.fixture
def no_documents(stack: Stack) -> None:
    """Nothing that all sessions could read, left by whatever ran before on the same stack."""
    for file in stack.client.get("/files", params={"limit": 200}).json()["items"]:
        if file["kind"] == "document" and file["session_id"] is None:
            stack.client.delete(f"/files/{file['id']}").raise_for_status()


@pytest.mark.usefixtures("no_documents")
def test_a_document_brings_tools_to_read_and_search_it(stack: Stack, model: ScriptedModel) -> None:
    domain = make_domain(stack)["name"]
    session_id, without = make_session(stack, domain), make_session(stack, domain)
    made = upload(stack, "letter.md", LETTER.encode(), session_id=session_id)
    source = made["source"]
    asked = calls(
        ("search_document", {"words": "notice months"}),
        ("read_document", {"source": source}),
        ("read_document", {"source": source, "page": 99}),
    )
    stack.chat(asked, session_id)
    stack.chat(script({"text": "No file here."}), without)
    found, read, refused = results(stack, session_id)

    assert made["kind"] == "document"
    assert f"| {source} | 1 | 2 |" in found
    assert read.startswith("--- page 1 of ")
    assert "CUT: " in read
    assert "has no page 99" in refused
    assert {"read_document", "search_document"} <= set(offered(model, "search_document"))
    assert "read_document" not in offered(model, "No file here.")


@pytest.mark.usefixtures("no_documents")
def test_a_dry_run_offers_to_read_the_documents_of_all_sessions(stack: Stack) -> None:
    def names() -> set[str]:
        ask = {"template": {"name": "draft"}, "question": "What is in the letter?"}
        told = stack.client.post("/domains/check/request", json=ask).json()
        return {tool["function"]["name"] for tool in told["tools"]}

    before = names()
    made = upload(stack, "letter.md", LETTER.encode())
    after = names()
    stack.client.delete(f"/files/{made['id']}").raise_for_status()

    assert after - before == {"read_document", "search_document"}
    assert names() == before


def test_a_domain_with_a_list_of_tools_keeps_it(stack: Stack, model: ScriptedModel) -> None:
    domain = make_domain(stack, tools=["query_source"])["name"]
    session_id = make_session(stack, domain)
    upload(stack, "note.md", b"# A note", session_id=session_id)
    stack.chat(script({"text": "A short list."}), session_id)

    assert offered(model, "A short list.") == ["query_source"]


def test_a_pdf_is_read_by_page_and_one_without_text_says_so(stack: Stack) -> None:
    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    held = BytesIO()
    writer.write(held)
    made = upload(stack, "scan.pdf", held.getvalue())

    assert (made["kind"], made["content"][0]["pages"]) == ("document", 1)
    assert "has no text" in made["content"][0]["warnings"][0]
    stack.client.delete(f"/files/{made['id']}")


def total_of(stack: Stack, name: str, session_id: str) -> tuple[JSON, list[str]]:
    """The first cell of a query's result on a file, and what is said beside it."""
    listed = stack.client.get("/files", params={"session_id": session_id, "limit": 200}).json()
    (source,) = {item["source"] for item in listed["items"] if item["name"] == name}
    query = {"source": source, "sql": f"SELECT sum(amount) AS total FROM {source}"}
    stack.chat(calls(("list_sources", {}), ("query_source", query)), session_id)
    rows, _ = check_views(stack, session_id)
    table = [row["metadata"]["table"] for row in rows if row["metadata"].get("table")][-1]
    return float(table["rows"][0][0]), table["notes"]


def test_a_later_upload_of_a_name_answers_only_sessions_begun_since(stack: Stack) -> None:
    first = upload(stack, "twins.csv", b"amount\n1\n2\n")
    old = stack.chat("Good morning")["session_id"]

    later = upload(stack, "twins.csv", b"amount\n10\n20\n")
    new = make_session(stack)

    assert total_of(stack, "twins.csv", old) == (3, [])
    assert total_of(stack, "twins.csv", new) == (30, [])
    assert (first["name"], later["name"]) == ("twins.csv", "twins.csv")
    listed = results(stack, old)[0]
    assert "twins.csv" in listed and first["source"] in listed and later["source"] not in listed
    assert f"of {first['created_at'][:10]}" in listed


def test_a_session_asks_its_own_file_of_a_name(stack: Stack) -> None:
    upload(stack, "owned.csv", b"amount\n1\n")
    session_id = make_session(stack)
    upload(stack, "Owned.csv", b"amount\n5\n", session_id=session_id)

    assert total_of(stack, "Owned.csv", session_id) == (5, [])


def test_an_older_session_is_told_that_its_file_was_replaced(stack: Stack) -> None:
    first = upload(stack, "plan.csv", b"amount\n1\n2\n")
    old = stack.chat("Good morning")["session_id"]
    assert total_of(stack, "plan.csv", old) == (3, [])

    second = upload(stack, "plan.csv", b"amount\n10\n20\n", if_exists="replace")
    new = make_session(stack)

    assert second["source"] == first["source"]
    assert second["replaced_upload_of"] == first["created_at"]
    assert stack.client.get(f"/files/{first['id']}").status_code == 404
    total, notes = total_of(stack, "plan.csv", old)
    assert total == 30
    assert "was replaced on" in notes[0] and "Earlier answers of this session" in notes[0]
    assert total_of(stack, "plan.csv", new) == (30, [])
