"""Whatever a tool does wrong: its call ends, in words and in bounds, and the session goes on."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.faults.odd_stack import OddStack, call, check_goes_on, result_of
from tests.integration.scenes import check_views, make_domain, make_session, stop, texts
from tests.integration.tools.mcp_calls import talker
from tests.integration.turns.answers_to_stop import STOP_SECONDS
from tests.servers.tool import ToolServer, tool
from tests.servers.wire import WireServer
from tests.stack import Servers, Stack

MAX_CHARS = 1_000_000
MAX_MEMORY = 1_500 * 2**20


@pytest.fixture(scope="module")
def running(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OddStack]:
    home = tmp_path_factory.mktemp("odd")
    environment = {
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "test",
        "MODEL": "scripted",
        "FAILPOINTS": "claim.after_commit=sleep:2",
        "FAILPOINTS_DIR": str(home),
    }
    stack = OddStack(servers.new_database(), servers.new_redis(), home, **environment)
    stack.armed.touch()
    with stack:
        yield stack


@pytest.fixture
def odd(running: OddStack, model: ScriptedModel) -> OddStack:
    model.clear()
    model.steps = ()
    return running


GIVEN_UP = ("deaf", "stuck")
RESULTS: dict[str, tuple[bool, str]] = {
    "fails": (True, "The tool fails failed (RuntimeError)."),
    "exits": (True, "The tool exits ended itself without a result."),
    "deaf": (True, "longer than 1 seconds, its limit, and was given up. It could not be ended"),
    "stuck": (True, "longer than 1 seconds, its limit, and was given up. It could not be ended"),
    "huge": (False, "[cut here: the result has 300000000 characters]"),
    "huge_blocks": (False, "[left out: the result has more than 1000000 characters in blocks]"),
    "huge_artifact": (False, "[left out: the structured part of the result is too large]"),
    "nul": (False, "a\u2400b"),
    "half": (False, "half \ufffd of it"),
    "nan": (False, "NaN"),
    "deep": (True, "The tool deep failed (RecursionError)."),
    "deep_artifact": (False, "ok"),
    "binary": (False, "\\x00\\x01"),
    "nothing": (False, ""),
    "no_pair": (True, "two-tuple"),
    "controls": (False, "\x1b[31m\x07\x7f \u202ebidi \u2400 e\u0301 \U0001f600"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_tool_of_our_own_ends_in_words_and_in_bounds(
    odd: OddStack, model: ScriptedModel, name: str
) -> None:
    is_error, words = RESULTS[name]
    limits = {"tool_seconds": 1} if name in GIVEN_UP else {}
    session_id = make_session(odd, make_domain(odd, limits=limits)["name"])

    turn = odd.chat(script(call(name), {"text": "So be it."}), session_id)

    assert turn["response"] == "So be it."
    assert odd.turn(turn["turn_id"])["attempts"] == 1
    result = result_of(check_goes_on(odd, session_id))
    assert result["is_error"] == is_error
    assert words in result["content"] and "canary" not in result["content"]
    assert len(result["content"]) < MAX_CHARS + 200
    assert model.messages[1][-1]["content"] == result["content"]


def test_a_gigabyte_of_output_is_cut_before_it_fills_the_memory(odd: OddStack) -> None:
    many = {"tools": [{"name": "huge", "id": str(number)} for number in range(2)]}
    turn = odd.chat(script(many, {"text": "So be it."}))

    assert turn["response"] == "So be it."
    status = Path(f"/proc/{odd.workers[0].pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    assert int(peak.split()[1]) * 1024 < MAX_MEMORY
    check_goes_on(odd, turn["session_id"])


WIRE = {
    "cut": "broke off",
    "end": "broke off",
    "huge": "more than 64 MB",
    "parts": "made of more than 200,000 parts",
    "streamed_parts": "made of more than 200,000 parts",
    "garbage": "cannot be read",
    "status": "status 500",
    "refuse": "says: not today",
}


@pytest.mark.parametrize("behaviour", WIRE)
def test_a_tool_server_that_breaks_within_a_call_fails_the_call(
    odd: OddStack, behaviour: str
) -> None:
    with WireServer(behaviour) as server:
        domain = make_domain(odd, mcp_servers={"s": server.template})
        session_id = make_session(odd, domain["name"])
        turn = odd.chat(script(call("say"), call("say", fine=True), {"text": "End."}), session_id)
        rows = check_goes_on(odd, session_id)

    broken, fine = (r["content"] for r in rows if r["content_type"] == "tool_result")
    assert turn["response"] == "End."
    assert broken["is_error"] and WIRE[behaviour] in broken["content"]
    assert not fine["is_error"]


@pytest.mark.parametrize(
    ("text", "is_error", "said"),
    [
        ('"half \\ud83d of it"', False, "half \ufffd of it"),
        ('"not utf-8: \xff"', False, "not utf-8: \ufffd"),
        ('"nul \\u0000"', False, "nul \u2400"),
        ("NaN", False, '"text": NaN'),
        ("[" * 20_000 + "]" * 20_000, True, "cannot be read"),
    ],
    ids=["half", "binary", "nul", "nan", "deep"],
)
def test_what_a_child_process_sends_is_cleaned_or_refused(
    odd: OddStack, text: str, is_error: bool, said: str
) -> None:
    session_id = make_session(odd, make_domain(odd, mcp_servers={"s": talker(text)})["name"])

    turn = odd.chat(script(call("say"), {"text": "End."}), session_id)

    result = result_of(check_goes_on(odd, session_id))
    assert turn["response"] == "End."
    assert (result["is_error"], said in result["content"]) == (is_error, True)


def test_tools_of_odd_names_are_offered_under_names_that_a_model_takes(
    odd: OddStack, model: ScriptedModel
) -> None:
    listed = ["", "a b", "a.b", "nul\x00", "\u202eevil", "n" * 500, "x", "x"]
    template = talker(listed=listed)
    domain = make_domain(odd, tools=[], mcp_servers={"s": template})
    session_id = make_session(odd, domain["name"])

    odd.chat(script(call("s__"), call("a_b"), {"text": "End."}), session_id)

    offered = [t["function"]["name"] for t in model.requests[0]["tools"]]
    rows = check_goes_on(odd, session_id)
    assert len(set(offered)) == len(offered) == len(listed) - 1
    assert all(re.fullmatch(r"[\w-]{1,64}", name, re.ASCII) for name in offered)
    results = [row["content"] for row in rows if row["content_type"] == "tool_result"]
    assert [result["content"] for result in results] == ["fine", "fine"]
    assert any("is called" in row["content"].get("text", "") for row in rows)


def test_a_tool_server_that_dies_in_a_call_is_started_again_for_the_next(odd: OddStack) -> None:
    child = {"transport": "stdio", "command": sys.executable, "args": ["tests/servers/tool.py"]}
    session_id = make_session(odd, make_domain(odd, mcp_servers={"s": child})["name"])

    odd.chat(script(call("die"), call("echo", n=1), {"text": "End."}), session_id)

    rows = check_goes_on(odd, session_id)
    died, back = (r["content"] for r in rows if r["content_type"] == "tool_result")
    assert died["is_error"] and "may or may not have taken effect" in died["content"]
    assert back["content"] == "echo {'n': 1}"


def never_answers(number: int = 60) -> JSON:
    """A server that hangs; a process knows each number as another one."""
    return {"transport": "stdio", "command": "sleep", "args": [str(number)], "connect_seconds": 1}


@pytest.mark.parametrize("kind", ["silent", "absent"])
def test_a_turn_goes_on_without_a_tool_server_that_cannot_be_opened(
    odd: OddStack, model: ScriptedModel, kind: str
) -> None:
    template = never_answers() if kind == "silent" else {**never_answers(), "command": "c"}
    session_id = make_session(odd, make_domain(odd, mcp_servers={"ledger": template})["name"])

    turn = odd.chat(script({"text": "Without it."}), session_id)

    assert turn["response"] == "Without it."
    rows, _ = check_views(odd, session_id)
    (missing,) = (r["content"]["text"] for r in rows if r["content_type"] == "notice")
    assert missing.startswith("The tool server ledger is missing: ")
    assert "not available in this turn" in missing


def test_a_tool_server_that_changes_its_tools_between_turns(
    odd: OddStack, model: ScriptedModel
) -> None:
    listed = [tool("old"), tool("same"), tool("same")]
    with ToolServer(listed, lambda name, _: f"{name} is done") as server:
        twice = {"a": server.template, "b": server.template}
        domain = make_domain(odd, tools=[], mcp_servers=twice)
        session_id = make_session(odd, domain["name"])
        odd.chat(script(call("old"), call("b__same"), {"text": "First."}), session_id)
    with ToolServer([tool("new")], lambda name, _: f"{name} is done", port=server.port) as changed:
        odd.chat(script(call("old"), call("new"), {"text": "Second."}), session_id)
        accept_all(odd, domain)
        odd.chat(script(call("new"), {"text": "Third."}), session_id)
        rows = check_goes_on(odd, session_id)

    offered = [[t["function"]["name"] for t in body.get("tools", [])] for body in model.requests]
    assert offered[0] == ["old", "same", "b__old", "b__same"]
    assert offered[3] == []
    assert offered[-1] == ["new", "b__new"]
    assert [name for name, _ in server.calls] == ["old", "same"]
    assert [name for name, _ in changed.calls] == ["new"]
    results = [r["content"] for r in rows if r["content_type"] == "tool_result"]
    assert [result["is_error"] for result in results] == [False, False, True, True, False]
    assert "old" in results[2]["content"]
    assert "has not accepted it yet" in results[3]["content"]
    assert texts(rows, "assistant") == ["First.", "Second.", "Third."]
    notices = [r["content"]["text"] for r in rows if r["content_type"] == "notice"]
    assert "The tool server a lists same more than once: only the first is used." in notices


def accept_all(stack: Stack, domain: JSON) -> None:
    """Accept, as an administrator, what servers have changed."""
    path = f"/domains/{domain['id']}/tool-versions"
    for version in stack.client.get(path).json()["items"]:
        decided = stack.client.patch(f"{path}/{version['id']}", json={"status": "accepted"})
        assert decided.status_code == 200, decided.text


@pytest.mark.parametrize("phase", ["claimed", "connecting", "deaf", "stuck"])
def test_a_stop_is_obeyed_whoever_does_not_listen(
    odd: OddStack, model: ScriptedModel, phase: str
) -> None:
    hung = {**never_answers(61), "connect_seconds": 30}
    servers = {"silent": hung} if phase == "connecting" else {}
    session_id = make_session(odd, make_domain(odd, mcp_servers=servers)["name"])
    if phase == "claimed":
        odd.armed.unlink()
    first = call(phase) if phase in RESULTS else {"text": "never", "wait": 30}
    turn = odd.submit(script(first, {"text": "never"}), session_id)
    running = "SELECT 1 FROM turns WHERE id = :id AND status = 'running'"
    odd.wait_for(lambda: odd.query(running, id=turn["turn_id"]), "does not start")
    if phase in RESULTS:
        odd.wait_for(lambda: _calls(odd, session_id), "the tool is not called")

    stop(odd, turn["turn_id"])

    ended = odd.finished(turn["turn_id"], STOP_SECONDS)
    assert ended["status"] == "stopped"
    assert len(model.requests) <= (phase != "connecting")
    rows, state = check_views(odd, session_id)
    assert texts(rows, "assistant") == []
    assert rows[-1]["content"] == {"text": "Stopped."}
    assert state["messages"][-1]["role"] == ("tool" if phase in RESULTS else "user")
    assert {row["status"] for row in _calls(odd, session_id)} <= {"stopped"}
    if phase != "connecting":
        check_goes_on(odd, session_id)


def _calls(stack: Stack, session_id: str) -> list[JSON]:
    return [row for row in stack.messages(session_id) if row["content_type"] == "tool_call"]
