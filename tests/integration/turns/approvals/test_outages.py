"""What was decided counts though the tool's server is away or parts of the stack are killed."""

import os
import signal
from pathlib import Path

import httpx
import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views, make_session
from tests.integration.turns.approvals.post import SCHEMA, Post, mail, open_post, rows_of
from tests.servers.tool import ToolServer, tool
from tests.stack import Servers, Stack


@pytest.mark.parametrize(
    ("decision", "heard"),
    [
        ({"type": "reject", "message": "not to her"}, "not to her"),
        ({"type": "respond", "message": "sent by hand"}, "sent by hand"),
        ({"type": "approve"}, "is not available in this turn"),
    ],
    ids=["reject", "respond", "approve"],
)
def test_what_was_decided_counts_while_the_server_of_the_tool_is_away(
    post: Post, model: ScriptedModel, decision: JSON, heard: str
) -> None:
    turn = post.ask(mail("ann"))
    post.server.stop()

    assert post.decide(turn, decision).status_code == 200

    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    assert heard in str(model.messages[-1][-1]["content"])
    assert post.calls() == []


def test_an_approved_call_runs_though_another_turn_has_just_found_its_server_away(
    post: Post,
) -> None:
    turn = post.ask(mail("ann"))
    post.server.stop()
    elsewhere = make_session(post.stack, post.domain)
    other = post.stack.submit(script({"text": "Without tools."}), elsewhere)["turn_id"]
    assert post.stack.finished(other)["status"] == "succeeded"

    with ToolServer([tool("mail_send", SCHEMA)], lambda *_: "sent", post.server.port) as back:
        post.decide(turn, {"type": "approve"})
        post.stack.finished(turn["id"])

        assert back.calls == [("mail_send", {"to": "ann"})]


NO_LONGER_OFFERED = (
    "The tool mail_send is not available: its server tools no longer offers it."
    " Nothing was run. Do without it, or say that it is missing."
)
NONE_HERE = "There is no tool mail_send here, so nothing was run. There are: "


def go_on_without(post: Post, turn: JSON) -> str:
    """Approve a call that cannot run; return what the model and people read."""
    assert post.decide(turn, {"type": "approve"}).status_code == 200
    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    check_views(post.stack, turn["session_id"])
    (call,) = rows_of(post.stack, turn, "tool_call")
    (result,) = rows_of(post.stack, turn, "tool_result")
    assert (call["status"], result["content"]["is_error"]) == ("failed", True)
    assert post.calls() == []
    return str(result["content"]["content"])


def test_an_approved_call_says_that_its_server_no_longer_offers_the_tool(
    post: Post, model: ScriptedModel
) -> None:
    turn = post.ask(mail("ann"))
    post.server.tools[:] = [one for one in post.server.tools if one.name != "mail_send"]

    assert go_on_without(post, turn) == NO_LONGER_OFFERED
    assert model.messages[-1][-1]["content"] == NO_LONGER_OFFERED


def test_an_approved_call_of_a_deleted_domain_says_what_there_is(post: Post) -> None:
    turns = [post.ask(mail("ann")), post.ask(mail("ann"))]
    assert post.stack.client.delete(f"/domains/{post.domain_id}").status_code == 204
    post.server.tools[:] = [one for one in post.server.tools if one.name != "mail_send"]

    said = go_on_without(post, turns[0])
    assert said.startswith(NONE_HERE) and said.endswith(", mail_drop, look_up, wipe.")
    post.server.stop()
    said = go_on_without(post, turns[1])
    assert said.startswith(NONE_HERE) and "mail_drop" not in said
    assert ". The tool server tools is missing: nothing answers" in said


def test_an_edit_survives_that_everything_is_killed_twice(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    fired = tmp_path / "fired"
    fired.mkdir()
    armed = {"FAILPOINTS": "approval.consumed=kill", "FAILPOINTS_DIR": str(fired)}
    quick = {"LEASE_SECONDS": "2", "SWEEP_SECONDS": "0.3"}
    with (
        make_stack(servers, model, tmp_path, **quick, **armed) as stack,
        open_post(stack) as post,
    ):
        turn = post.ask(mail("ann"))
        _kill_all(stack)
        _start_all(stack)

        decided = post.decide(turn, {"type": "edit", "args": {"to": "bob"}})

        assert decided.status_code == 200, decided.text
        stack.wait_for(lambda: (fired / "approval.consumed").exists(), "nobody went on")
        stack.wait_for(lambda: stack.workers[0].poll() is not None, "the worker lives")
        assert post.calls() == []
        _kill_all(stack)
        _start_all(stack)
        assert stack.finished(turn["id"])["status"] == "succeeded"
        check_views(stack, turn["session_id"])
        assert post.calls() == [("mail_send", {"to": "bob"})]


@pytest.mark.chaos
@pytest.mark.parametrize("point", ["approval.requested", "approval.decided"])
def test_a_part_that_dies_while_it_asks_or_decides_loses_nothing(
    point: str, servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    model.clear()
    fired = tmp_path / "fired"
    fired.mkdir()
    armed = {"FAILPOINTS": f"{point}=kill", "FAILPOINTS_DIR": str(fired)}
    quick = {"LEASE_SECONDS": "2", "SWEEP_SECONDS": "0.3"}
    with (
        make_stack(servers, model, tmp_path, **quick, **armed) as stack,
        open_post(stack) as post,
    ):
        session_id = make_session(stack, post.domain)
        said = script({"tools": [mail("ann"), mail("sam", "look_up")]}, {"text": "done"})
        turn_id = stack.submit(said, session_id)["turn_id"]
        if point == "approval.requested":
            stack.wait_for(lambda: stack.workers[0].poll() is not None, "the worker lives")
            stack.workers.clear()
            stack.start_worker()
        turn = post.waiting(turn_id)
        try:
            post.decide(turn, {"type": "approve"})
        except httpx.HTTPError:
            assert point == "approval.decided"
            stack.start_api()

        assert (fired / point).exists()
        assert stack.finished(turn_id)["status"] == "succeeded"
        check_views(stack, session_id)
        assert sorted(name for name, _ in post.calls()) == ["look_up", "mail_send"]


def _kill_all(stack: Stack) -> None:
    assert stack.api is not None
    os.killpg(stack.api.pid, signal.SIGKILL)
    stack.api.wait()
    for worker in stack.workers:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    stack.workers.clear()


def _start_all(stack: Stack) -> None:
    stack.start_api()
    stack.start_worker()
    stack.wait_ready()
