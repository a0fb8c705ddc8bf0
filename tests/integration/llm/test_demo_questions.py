"""What people ask first, in conversations: the demo model's figures are those of plain SQL.

Each question is either answered with exactly the figures of its SQL, or refused with a sentence.
"""

import asyncio
import json
import re
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
from tests.integration.llm.demo_figures import Amounts, Refused
from tests.integration.llm.demo_questions import CONVERSATIONS

FIGURE = re.compile(r"EUR -?\d|\| -?[\d,]+\.\d\d")


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
