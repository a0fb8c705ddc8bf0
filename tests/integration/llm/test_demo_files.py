"""The demo model's answers about uploaded files, with the real tools."""

import asyncio
import json
from uuid import uuid4

import openpyxl
import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from starlette.testclient import TestClient

from backend.auth.scope import LOCAL_USER
from backend.data.sources import Sources
from backend.demo_model.app import create_app
from backend.schemas.data.files import attached_line
from backend.tools.context import ToolContext
from backend.tools.registry import build_tools

SALES = """Umsätze der Gruppe;;;
Stand 30.09.2026;;;
Datum;Kunde;Betrag;Nr
01.07.2026;Müller;1.234,50;0012
15.07.2026;Groß;200,25;0013
03.08.2026;Müller;99,00;0014
10.08.2026;Öztürk;-5,75;0015
"""
TWO = "Region,Net Sales,Cost,Shipped\nNorth,10.5,3.25,2026-01-05\nSouth,20,4.5,2026-01-09\n"
RATES = (
    "Month,Region,margin_pct\nMarch,N,30\nMarch,S,50\nJanuary,N,20\nJanuary,S,41\nFebruary,N,9\n"
)
ATTACHED = attached_line("Umsätze.csv", "umsätze")


def book_of_months():
    """A workbook whose sheets are alike."""
    book = openpyxl.Workbook()
    book.active.title = "March"
    for sheet, amount in ((book.active, 10.5), (book.create_sheet("April"), 20.25)):
        for row in (["Region", "Amount"], ["North", amount], ["South", 1]):
            sheet.append(row)
    return book


@pytest.fixture(scope="module")
def ask(tmp_path_factory, sandbox):
    home = tmp_path_factory.mktemp("demo-files")
    (home / "sources").mkdir()
    (home / "sources" / "umsätze.csv").write_bytes(SALES.encode("cp1252"))
    (home / "sources" / "two.csv").write_text(TWO)
    (home / "sources" / "rates.csv").write_text(RATES)
    book_of_months().save(home / "sources" / "months.xlsx")
    context = ToolContext(Sources(home, {}, sandbox), uuid4(), uuid4(), LOCAL_USER)
    tools = {tool.name: tool for tool in build_tools(None, context)}
    offered = [convert_to_openai_tool(tool) for tool in tools.values()]

    def look_up(call):
        function = call["function"]
        arguments = json.loads(function["arguments"])
        request = {"type": "tool_call", "id": "x", "name": function["name"], "args": arguments}
        content = asyncio.run(tools[function["name"]].ainvoke(request)).content
        return {"role": "tool", "tool_call_id": call["id"], "content": str(content)}

    with TestClient(create_app(delay_ms=0)) as client:

        def run(*questions):
            messages = []
            for question in questions:
                messages.append({"role": "user", "content": question})
                for _ in range(8):
                    body = {"model": "demo", "messages": messages, "tools": offered}
                    reply = client.post("/v1/chat/completions", json=body)
                    message = reply.json()["choices"][0]["message"]
                    messages.append({k: v for k, v in message.items() if v is not None})
                    if not message.get("tool_calls"):
                        break
                    messages += [look_up(call) for call in message["tool_calls"]]
            return messages[-1]["content"]

        yield run


@pytest.mark.parametrize(
    ("questions", "rows"),
    [
        ([f"Totals by month\n\n{ATTACHED}"], ["| 2026-07 | 1,434.75 |", "| 2026-08 | 93.25 |"]),
        ([f"Hello\n\n{ATTACHED}", "Totals by month?"], ["| 2026-07 | 1,434.75 |"]),
        (["What is the total Betrag by Kunde of umsätze.csv?"], ["| Müller | 1,333.50 |"]),
        (["Average Betrag per quarter in the file umsätze"], ["| 2026 Q3 |"]),
        ([f"How many rows?\n\n{ATTACHED}"], ["| 4 |"]),
        ([f"How many per customer Kunde?\n\n{ATTACHED}"], ["“customer”"]),
        ([f"Totals for Atlantis\n\n{ATTACHED}"], ["“Atlantis”"]),
        (["Total net sales by region in two.csv"], ["| South | 20.00 |"]),
        (["Totals by region in two.csv"], ["Which column? Numbers are in Net Sales, Cost."]),
        ([f"what columns does it have?\n\n{ATTACHED}"], ["| Betrag ", "DOUBLE"]),
        ([f"What's in this file?\n\n{ATTACHED}"], ["| Betrag ", "DOUBLE"]),
        (["What does two.csv contain?"], ["| Cost | DOUBLE |"]),
        ([ATTACHED], ["Datum", "DATE"]),
        (
            ["margin_pct by month in rates.csv"],
            ["Average of margin_pct by Month", "March | 40.00 |\n| January | 30.50 |\n| Feb"],
        ),
        (["Total margin_pct by month in rates.csv"], ["not added up", "Ask for the average"]),
        (["Totals by month of nothing.csv"], ["no file 'nothing.csv'"]),
        (["Totals by month of bank.xml"], ["no file 'bank.xml'"]),
    ],
)
def test_a_question_about_a_file_is_answered_or_refused(ask, questions, rows):
    said = ask(*questions)

    for row in rows:
        assert row in said


def test_of_several_files_the_answer_says_which_one_it_is_about(ask):
    question = f"What is in these files?\n\n{ATTACHED}\n{attached_line('two.csv', 'two')}"
    only = "This is about Umsätze.csv only. To ask about two.csv, name the file."

    described = ask(question)
    totals = ask(question, "Total Betrag by Kunde")
    named = ask(question, "What is in two.csv?")

    assert "Kunde" in described and described.endswith(only)
    assert "Müller" in totals and totals.endswith(only)
    assert "Net Sales" in named and "only" not in named


@pytest.mark.parametrize("question", ["How many rows are there?", "Total by region"])
def test_of_sheets_that_could_all_answer_the_question_has_to_name_one(ask, question):
    attached = attached_line("months.xlsx", "months")

    refused = ask(f"{question}\n\n{attached}")
    said = ask(f"{question}\n\n{attached}", "Total amount in March?")

    assert refused == "Of which table? These can answer it: april, march. Name one."
    assert "Total of Amount (table march) in **months.xlsx**" in said and "| 11.50 |" in said


@pytest.mark.parametrize("question", ["Sum of Kunde?", "What is the average Kunde", "Highest Nr"])
def test_the_sum_of_a_text_is_not_that_of_another_column(ask, question):
    said = ask(f"{question}\n\n{ATTACHED}")

    assert "holds no numbers" in said and "|" not in said


def test_a_question_about_the_books_is_not_taken_for_one_about_a_file(ask):
    said = ask(f"Totals by month\n\n{ATTACHED}", "What's the budget for CC-1001?")

    assert "The budget of **CC-1001" in said
