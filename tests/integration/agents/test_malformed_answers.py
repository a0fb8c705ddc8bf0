"""What a model writes that cannot be read or never ends is answered, or ends the turn visibly."""

import json

import pytest

from backend.errors.models import IncompleteAnswer, ModelUnavailable
from backend.errors.turns import EndlessLoop, StepLimitReached
from tests.fakes import ScriptedModel
from tests.runs import GOOD, asking, failing, final_state, run, steps
from tests.servers.tool import ToolServer, tool

HALF = '{"to": "boss", "body": "I do NOT agr'


@pytest.fixture(scope="module")
def tools():
    with ToolServer([tool("send"), tool("poll")], lambda name, _: f"{name} done") as server:
        yield server


def test_arguments_that_ran_into_a_limit_are_not_asked_for_again(tools):
    cut = {"tools": [{"name": "send", "args": HALF}], "finish": "length"}
    tools.calls.clear()
    with ScriptedModel(lambda *_: cut) as model:
        failing(model.url, IncompleteAnswer, mcp_servers={"s": tools.template})

    assert len(model.requests) == 1
    assert tools.calls == []


def test_a_limit_of_one_step_is_said_in_the_singular(tools):
    calling = {"tools": [{"name": "poll", "args": {}}]}
    with ScriptedModel(lambda *_: calling) as model:
        failing(model.url, StepLimitReached, "made 1 step, its limit", limits={"steps": 1})


UNREADABLE = [
    HALF,
    '{"to": NaN}',
    "[1, 2]",
    '"text"',
    '{"a": 1} {"b": 2}',
    '{"a":' + "[" * 5_000 + "]" * 5_000 + "}",
    '{"a":' + "[" * 100 + "]" * 100 + "}",
    '{"a": ' + "9" * 5000 + "}",
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_arguments_that_cannot_be_read_are_answered_so_that_the_model_can_mend_them(tools, text):
    bad = {"tools": [{"name": "send", "args": text}, {"name": "poll", "args": "{}"}]}
    good = {"tools": [{"name": "send", "args": {"to": "boss"}}]}
    tools.calls.clear()
    with ScriptedModel([bad, good, GOOD]) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": tools.template})

    refused, polled = steps(events)[1].messages
    sent = [json.loads(c["function"]["arguments"]) for c in model.messages[1][1]["tool_calls"]]
    assert (refused["status"], polled["content"]) == ("error", "poll done")
    assert "nothing was run" in refused["content"]
    assert tools.calls == [("poll", {}), ("send", {"to": "boss"})]
    assert list(sent[0]) == ["unreadable_arguments"]
    assert final_state(events)["messages"][-1]["content"] == GOOD["text"]


def test_a_call_that_could_not_be_read_is_not_run_after_a_restart_either(tools):
    bad = {"tools": [{"name": "send", "args": HALF}]}
    tools.calls.clear()
    with ScriptedModel([bad, GOOD]) as model:
        asked = steps(run(model.url, asking("go"), mcp_servers={"s": tools.template}))[0]
        again = json.loads(json.dumps(asked.state))
        events = run(model.url, again, mcp_servers={"s": tools.template})

    assert steps(events)[0].messages[0]["status"] == "error"
    assert tools.calls == []


def test_a_model_that_cannot_write_arguments_is_given_up(tools):
    with ScriptedModel(lambda *_: {"tools": [{"name": "send", "args": HALF}]}) as model:
        events, error = failing(model.url, IncompleteAnswer, mcp_servers={"s": tools.template})

    assert "3 times in a row" in error.detail
    assert len(steps(events)) == 5


def test_the_same_call_for_ever_is_ended(tools):
    tools.calls.clear()
    with ScriptedModel(lambda *_: {"tools": [{"name": "poll", "args": {"job": 1}}]}) as model:
        _, error = failing(model.url, EndlessLoop, mcp_servers={"s": tools.template})

    assert "poll 20 times" in error.detail
    assert len(tools.calls) == 20


def test_the_same_call_with_another_result_each_time_is_no_loop():
    count = iter(range(1000))
    calls = [{"tools": [{"name": "poll", "args": {}}]} for _ in range(30)]
    with (
        ToolServer([tool("poll")], lambda *_: f"{next(count)} % done") as server,
        ScriptedModel([*calls, GOOD]) as model,
    ):
        events = run(model.url, asking("go"), mcp_servers={"s": server.template})

    assert final_state(events)["messages"][-1]["content"] == GOOD["text"]


def test_only_the_first_of_several_choices_counts():
    def line(index, text, finish=None):
        choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
        return f"data: {json.dumps({'choices': [choice], 'model': 'm'})}\n\n"

    raw = line(0, "one ") + line(1, "other ") + line(0, "two", "stop") + line(1, "x", "length")
    with ScriptedModel([{"raw": raw.encode()}]) as model:
        (step,) = steps(run(model.url, asking("go")))

    assert step.messages[0]["content"] == "one two"
    assert step.messages[0]["response_metadata"]["finish_reason"] == "stop"


def test_a_huge_chunk_arrives_whole_and_an_endless_one_is_refused():
    with ScriptedModel([{"raw": chunk_of("x" * 5_000_000)}]) as model:
        (step,) = steps(run(model.url, asking("go")))
    with ScriptedModel(lambda *_: {"raw": chunk_of("x" * 9_000_000)}) as endless:
        _, error = failing(endless.url, IncompleteAnswer)
    with ScriptedModel(lambda *_: {"raw": chunk_of("x" * 40_000_000)}) as too_long:
        failing(too_long.url, ModelUnavailable)

    assert len(step.messages[0]["content"]) == 5_000_000
    assert "8000000 characters" in error.detail
    assert len(endless.requests) == 1


def chunk_of(text):
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
    return f"data: {json.dumps({'choices': [choice], 'model': 'm'})}\n\n".encode()


def test_content_in_blocks_and_arguments_as_an_object_are_understood(tools):
    function = {"name": "send", "arguments": {"to": "boss"}}
    delta = {
        "content": [{"type": "text", "text": "block"}],
        "tool_calls": [{"index": 0, "id": "c", "function": function}],
    }
    choice = {"index": 0, "delta": delta, "finish_reason": "tool_calls"}
    raw = f"data: {json.dumps({'choices': [choice], 'model': 'm'})}\n\n".encode()
    tools.calls.clear()
    with ScriptedModel([{"raw": raw}, GOOD]) as model:
        events = run(model.url, asking("go"), mcp_servers={"s": tools.template})

    assert tools.calls == [("send", {"to": "boss"})]
    assert steps(events)[0].messages[0]["content"] == "block"


def test_arguments_of_which_only_the_form_is_wrong_reach_the_tools_in_the_right_one():
    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"type": "integer"}},
            "note": {"type": "string"},
        },
    }
    of_server = {"name": "add", "args": {"rows": "[1, 2]", "note": None}, "id": "a"}
    own = {"name": "list_files", "args": {"under": None}, "id": "b"}
    with (
        ScriptedModel([{"tools": [of_server, own]}, GOOD]) as model,
        ToolServer([tool("add", schema)], lambda *_: "3") as server,
    ):
        events = run(
            model.url,
            asking("go"),
            mcp_servers={"s": server.template},
            middleware=[
                "filesystem",
                {"approvals": {"rules": [{"tools": "x*", "action": "deny"}]}},
            ],
        )

    assert server.calls == [("add", {"rows": [1, 2]})]
    said = [m["content"] for m in final_state(events)["messages"] if m["role"] == "tool"]
    assert said == ["3", "There are no files."]
