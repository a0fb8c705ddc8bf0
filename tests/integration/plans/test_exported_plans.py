"""What the export of a session has of the tasks of its plans."""

import io
import json

import openpyxl

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.plans.team import Team, plan, task
from tests.stack import Stack

TOOLS = ["make_artifact", "list_sources"]
ROWS = [{"account": 4711, "amount": 8.25}]


def made(kind: str, title: str, content: object) -> JSON:
    given = {"kind": kind, "title": title, "content": content}
    return {"tools": [{"name": "make_artifact", "args": given}]}


MADE = {
    "t1": made("table", "Open amounts", json.dumps(ROWS)),
    "t2": made("document", "Report", "# The report\n\nAll of it."),
    "t3": {"tools": [{"name": "list_sources", "args": {}}]},
    "t4": made("document", "Extra", "From the other one."),
}


def export(stack: Stack, session_id: str, kind: str) -> bytes:
    answer = stack.client.get(f"/sessions/{session_id}/export", params={"format": kind})
    assert answer.status_code == 200, answer.text
    return answer.content


def test_an_export_has_what_the_tasks_of_a_plan_made(stack: Stack, model: ScriptedModel) -> None:
    team = Team(stack, model, MADE.__getitem__, specialist={"tools": TOOLS})
    tasks = plan(task("t1"), task("t2", "t1", agent="Writer"), task("t3", "t2"))
    alone = {"name": "call_agent", "args": {"name": "Writer", "message": "work t4;"}}
    turn = team.ask(tasks, alone)
    assert stack.finished(turn["turn_id"])["status"] == "succeeded"

    text = export(stack, turn["session_id"], "markdown").decode()
    page = export(stack, turn["session_id"], "html").decode()
    book = openpyxl.load_workbook(io.BytesIO(export(stack, turn["session_id"], "xlsx")))

    wanted = ("Task: Task t1", "| 4711 |", "Task: Task t2", "All of it.", "Task: Task t3")
    places = [text.index(words) for words in wanted]
    assert places == sorted(places) and places[-1] < text.index("all done")
    assert "From the other one." in text and "## Writer" in text and text.count("## You") == 1
    assert all(words in page for words in ("4711", "<h1>The report</h1>", "From the other one."))
    assert [book["Open amounts (1)"].cell(2, place).value for place in (1, 2)] == [4711, 8.25]
