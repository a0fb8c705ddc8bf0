"""The policies that give an agent tools keep its todos and files in the state, within bounds."""

from typing import Any

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.agents.policies.states import later, results, said
from tests.runs import asking, final_state, run, steps
from tests.servers.tool import ToolServer, tool

TODOS = [{"content": "look", "status": "in_progress"}, {"content": "tell", "status": "pending"}]
DONE = [{**todo, "status": "completed"} for todo in TODOS]


def writing(todos: list[JSON]) -> JSON:
    return {"tools": [{"name": "write_todos", "args": {"todos": todos}}]}


def written(todos: list[JSON]) -> list[JSON]:
    return [{"content": todo["content"], "status": todo["status"]} for todo in todos]


def test_todos_are_kept_in_the_state_and_survive_until_the_next_turn() -> None:
    with ScriptedModel([writing(TODOS), writing(DONE), {"text": "done"}]) as model:
        events = run(model.url, asking("go"), middleware=["todos"])
        lists = [step.state.get("todos") for step in steps(events)]
        assert lists[0] is None
        assert [written(one) for one in lists[1:]] == [TODOS, TODOS, DONE, DONE]
        assert len({tuple(todo["id"] for todo in one) for one in lists[1:]}) == 1
        model.steps = [{"text": "again"}]
        state = final_state(run(model.url, later(final_state(events), "?"), middleware=["todos"]))

    assert written(state["todos"]) == DONE


def test_two_lists_of_todos_in_one_message_are_refused_and_the_agent_goes_on() -> None:
    both = {"tools": [*writing(TODOS)["tools"], *writing(DONE)["tools"]]}
    with ScriptedModel([both, {"text": "sorry"}]) as model:
        events = run(model.url, asking("go"), middleware=["todos"])

    first = steps(events)[0]
    assert [m["role"] for m in first.messages] == ["assistant", "tool", "tool"]
    assert {m["status"] for m in first.messages[1:]} == {"error"}
    assert "todos" not in first.state
    assert said(final_state(events)) == "sorry"


def file_call(called: str, **args: Any) -> JSON:
    return {"name": called, "args": args}


def play_files(*batches: list[JSON], before: JSON | None = None) -> JSON:
    script = [*({"tools": calls} for calls in batches), {"text": "done"}]
    with ScriptedModel(script) as model:
        state = {**asking("go"), **(before or {})}
        return final_state(run(model.url, state, middleware=["filesystem"]))


def test_an_argument_that_a_tool_does_not_have_is_refused_and_nothing_is_written() -> None:
    write = file_call("write_file", name="a.md", content="second")
    state = play_files(
        [file_call("write_file", name="a.md", content="first")],
        [{**write, "args": {**write["args"], "append": True}}],
        [file_call("read_file", name="a.md")],
    )

    _, refused, read = results(state)
    assert "(append: there is no such argument); the tool was not called" in refused["content"]
    assert "first" in read["content"]


def test_files_written_side_by_side_are_all_there() -> None:
    writes = [file_call("write_file", name=f"notes/{n}.md", content=f"line {n}") for n in range(5)]
    state = play_files(writes, [file_call("list_files"), file_call("search_files", text="LINE 3")])

    assert sorted(state["files"]) == [f"notes/{n}.md" for n in range(5)]
    listed, found = (m["content"] for m in results(state)[5:])
    assert listed.count("notes/") == 5
    assert found == "notes/3.md:1: line 3"


def test_files_are_read_edited_and_kept() -> None:
    before = {"files": {"a.md": {"content": "one\ntwo\none"}}}
    state = play_files(
        [file_call("edit_file", name="a.md", old="one", new="1", everywhere=True)],
        [file_call("read_file", name="/a.md", first_line=2, lines=1)],
        before=before,
    )

    assert state["files"] == {"a.md": {"content": "1\ntwo\n1"}}
    assert results(state)[1]["content"] == "2\ttwo\n[lines 2 to 2 of 3]"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (file_call("write_file", name="../etc/passwd", content="x"), "no file name"),
        (file_call("write_file", name="a//b", content="x"), "no file name"),
        (file_call("write_file", name="a\nb", content="x"), "no file name"),
        (file_call("write_file", name="n" * 201, content="x"), "200 characters"),
        (file_call("write_file", name="big", content="x" * 100_001), "100,000 characters"),
        (file_call("write_file", name="new", content="x"), "100 files"),
        (file_call("read_file", name="missing"), "there is no file 'missing'"),
        (file_call("edit_file", name="f0", old="nope", new="x"), "not in the file"),
        (file_call("edit_file", name="f0", old="a", new="x"), "2 times"),
        (file_call("edit_file", name="f0", old="", new="x"), "not in the file"),
    ],
)
def test_what_cannot_be_done_with_a_file_is_said(call: JSON, why: str) -> None:
    before = {"files": {f"f{n}": {"content": "aa"} for n in range(100)}}
    state = play_files([call], before=before)

    (result,) = results(state)
    assert result["status"] == "error"
    assert why in result["content"]
    assert state["files"] == before["files"]


def test_all_files_together_are_bounded_also_within_one_message() -> None:
    writes = [file_call("write_file", name=f"f{n}", content="x" * 90_000) for n in range(5)]
    state = play_files(writes)

    assert sorted(state["files"]) == ["f0", "f1", "f2"]
    assert ["status" in m for m in results(state)] == [False, False, False, True, True]


def test_one_message_changes_a_file_once() -> None:
    write = file_call("write_file", name="a", content="first")
    state = play_files([write, file_call("edit_file", name="a", old="first", new="second")])

    assert "Change a file once" in results(state)[1]["content"]
    assert state["files"] == {"a": {"content": "first"}}


def test_a_servers_tool_whose_name_a_policy_needs_has_another_one() -> None:
    calls = [file_call("read_file", name="a"), file_call("s__read_file")]
    with (
        ToolServer([tool("read_file")], lambda name, args: f"{name} of the server") as server,
        ScriptedModel([{"tools": calls}, {"text": "done"}]) as model,
    ):
        image = {"mcp_servers": {"s": server.template}, "middleware": ["filesystem"]}
        state = {**asking("go"), "files": {"a": {"content": "of the session"}}}
        ended = final_state(run(model.url, state, **image))

    of_session, of_server = (result["content"] for result in results(ended))
    assert "of the session" in of_session
    assert of_server == "read_file of the server"
