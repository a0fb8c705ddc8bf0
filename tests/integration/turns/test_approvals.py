"""Calls that wait for people: asked, decided once, followed; across restarts of everything."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import redis

from backend.approvals.allowed_tools import list_allowed
from backend.approvals.inbox import count_pending, list_approvals
from backend.audit import SOFTWARE
from backend.auth.scope import Scope
from backend.bootstrap import bootstrap
from backend.errors.approvals import ApprovalNotFound
from backend.errors.base import NotAllowed
from backend.errors.conversations import SessionNotFound
from backend.errors.turns import TurnNotFound
from backend.schemas.approvals import Decision, DecisionType
from backend.settings import Settings
from backend.turns.control.decide import decide_call, decide_turn
from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import (
    check_problem,
    check_views,
    make_domain,
    make_session,
    send_json,
    stop,
)
from tests.servers.tool import ToolServer, tool
from tests.stack import Servers, Stack

SCHEMA: JSON = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["to"],
}
TOOLS = ("mail_send", "mail_drop", "look_up", "wipe")
RULES: list[JSON] = [{"tools": "mail_*", "action": "ask"}, {"tools": "wipe", "action": "deny"}]


class Post:
    """A domain whose mails ask first, and the server that counts what is sent."""

    def __init__(self, stack: Stack, server: ToolServer, rules: list[JSON]) -> None:
        self.stack, self.server = stack, server
        self.domain = make_domain(
            stack,
            mcp_servers={"tools": server.template},
            middleware=[{"approvals": {"rules": rules}}],
        )["name"]

    def ask(self, *calls: JSON, after: str = "all done") -> JSON:
        """Let an agent make these calls in one message; give the turn once it waits."""
        session_id = make_session(self.stack, self.domain)
        said = script({"text": "I will", "tools": list(calls)}, {"text": after})
        return self.ask_in(session_id, said)

    def ask_in(self, session_id: str, said: str) -> JSON:
        turn_id = self.stack.submit(said, session_id)["turn_id"]
        return self.waiting(turn_id)

    def waiting(self, turn_id: str) -> JSON:
        def turn() -> JSON | None:
            now = self.stack.turn(turn_id)
            is_under_way = now["status"] in ("queued", "running", "waiting")
            assert is_under_way, self.stack.messages(now["session_id"])
            return now if now["status"] == "waiting" else None

        return self.stack.wait_for(turn, "the turn does not wait")

    def decide(self, turn: JSON, *decisions: JSON) -> Any:
        body = {"decisions": list(decisions)}
        return self.stack.client.post(f"/turns/{turn['id']}/decisions", json=body)

    def pending(self, turn: JSON) -> list[JSON]:
        page = self.stack.client.get("/approvals", params={"limit": 200}).json()
        return [item for item in page["items"] if item["turn_id"] == turn["id"]]

    def calls(self) -> list[tuple[str, JSON]]:
        return self.server.calls


def mail(to: str, name: str = "mail_send", **more: Any) -> JSON:
    return {"name": name, "args": {"to": to, **more}}


def rows_of(stack: Stack, turn: JSON, content_type: str) -> list[JSON]:
    rows = stack.messages(turn["session_id"])
    return [row for row in rows if row["content_type"] == content_type]


@contextmanager
def open_post(stack: Stack, rules: list[JSON] = RULES) -> Iterator[Post]:
    tools = [tool(name, SCHEMA) for name in TOOLS]
    with ToolServer(tools, lambda name, given: f"{name} {given.get('to')}") as server:
        yield Post(stack, server, rules)


@pytest.fixture
def post(stack: Stack) -> Iterator[Post]:
    with open_post(stack) as opened:
        yield opened


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


def test_a_turn_waits_for_a_decision_and_holds_nothing(post: Post) -> None:
    turn = post.ask(mail("ann"))

    (approval,) = post.pending(turn)
    (row,) = rows_of(post.stack, turn, "interrupt")
    assert row["status"] == "pending"
    assert row["content"]["approval_id"] == approval["id"]
    assert row["content"]["arguments"] == approval["arguments"] == {"to": "ann"}
    assert row["content"]["allowed_decisions"] == ["approve", "edit", "reject", "respond"]
    assert [call["status"] for call in rows_of(post.stack, turn, "tool_call")] == ["pending"]
    (held,) = post.stack.query(
        "SELECT worker, lease_until FROM turns WHERE id = :id", id=turn["id"]
    )
    assert tuple(held) == (None, None)
    session = post.stack.client.get(f"/sessions/{turn['session_id']}").json()
    assert session["status"] == "waiting"
    (waits_for,) = post.stack.state(turn["session_id"])["interrupt"]["calls"]
    assert waits_for["arguments_hash"] == approval["arguments_hash"]
    assert post.calls() == []


def test_approved_calls_run_and_the_agent_goes_on(post: Post) -> None:
    turn = post.ask(mail("ann"))

    answer = post.decide(turn, {"type": "approve"})

    assert answer.status_code == 200, answer.text
    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    rows, state = check_views(post.stack, turn["session_id"])
    assert state["interrupt"] is None
    (asked,) = [row for row in rows if row["content_type"] == "interrupt"]
    assert asked["status"] == "completed"
    assert asked["metadata"]["decision"] == "approve"
    assert asked["metadata"]["decided_by"] == "local"
    assert [row["status"] for row in rows if row["content_type"] == "tool_call"] == ["completed"]
    assert not [row for row in rows if "lost" in str(row["content"])]
    assert post.calls() == [("mail_send", {"to": "ann"})]
    (audited,) = post.stack.query(
        "SELECT actor, action FROM audit_events WHERE subject_id = :id",
        id=asked["content"]["approval_id"],
    )
    assert tuple(audited) == ("local", "decided")


def test_an_edited_call_runs_and_all_are_told_that_it_was_edited(post: Post) -> None:
    turn = post.ask(mail("ann", amount=1))

    post.decide(turn, {"type": "edit", "edited_action": {"args": {"to": "bob", "amount": 2}}})

    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    rows, _ = check_views(post.stack, turn["session_id"])
    (asked,) = [row for row in rows if row["content_type"] == "interrupt"]
    (result,) = [row for row in rows if row["content_type"] == "tool_result"]
    assert asked["content"]["arguments"] == {"to": "ann", "amount": 1}
    assert asked["metadata"]["edited_arguments"] == {"to": "bob", "amount": 2}
    assert "replaced this tool call" in result["content"]["content"]
    assert result["content"]["content"].endswith("mail_send bob")
    assert post.calls() == [("mail_send", {"to": "bob", "amount": 2})]


def test_rejected_and_answered_calls_do_not_run(post: Post) -> None:
    turn = post.ask(mail("ann"), mail("bob"))

    post.decide(
        turn,
        {"type": "reject", "message": "not to her"},
        {"type": "respond", "message": "sent by hand"},
    )

    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    rows, _ = check_views(post.stack, turn["session_id"])
    results = [row["content"] for row in rows if row["content_type"] == "tool_result"]
    assert "not to her" in results[0]["content"] and results[0]["is_error"]
    assert results[1]["content"] == "sent by hand" and not results[1]["is_error"]
    assert post.calls() == []


def test_calls_that_need_nobody_run_while_others_wait(post: Post) -> None:
    turn = post.ask(
        mail("ann"), mail("sam", "look_up"), mail("all", "wipe"), mail("bob", "mail_drop")
    )

    asked = rows_of(post.stack, turn, "interrupt")
    results = {
        row["content"]["name"]: row["content"] for row in rows_of(post.stack, turn, "tool_result")
    }
    assert [row["content"]["name"] for row in asked] == ["mail_send", "mail_drop"]
    assert set(results) == {"look_up", "wipe"}
    assert "do not allow" in results["wipe"]["content"] and results["wipe"]["is_error"]
    assert post.calls() == [("look_up", {"to": "sam"})]

    post.decide(turn, {"type": "approve"}, {"type": "reject"})

    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    check_views(post.stack, turn["session_id"])
    assert post.calls() == [("look_up", {"to": "sam"}), ("mail_send", {"to": "ann"})]


def test_calls_are_decided_one_by_one_in_any_order(post: Post) -> None:
    turn = post.ask(mail("ann"), mail("bob"))
    first, second = post.pending(turn)
    client = post.stack.client

    one = client.post(f"/approvals/{second['id']}/decision", json={"type": "approve"})

    assert one.json()["status"] == "decided"
    assert post.stack.turn(turn["id"])["status"] == "waiting"
    assert [item["id"] for item in post.pending(turn)] == [first["id"]]

    client.post(f"/approvals/{first['id']}/decision", json={"type": "reject"})

    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    assert post.calls() == [("mail_send", {"to": "bob"})]


def test_a_call_id_that_comes_again_asks_again(post: Post) -> None:
    call = {**mail("ann"), "id": "call_1"}
    other = {**mail("bob"), "id": "call_1"}
    session_id = make_session(post.stack, post.domain)
    said = script({"tools": [call]}, {"tools": [other]}, {"text": "done"})
    turn = post.ask_in(session_id, said)

    post.decide(turn, {"type": "approve"})
    post.stack.wait_for(lambda: len(rows_of(post.stack, turn, "interrupt")) == 2, "asks once")
    turn = post.waiting(turn["id"])
    post.decide(turn, {"type": "reject"})

    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    check_views(post.stack, session_id)
    assert post.calls() == [("mail_send", {"to": "ann"})]


def test_decisions_that_do_not_fit_change_nothing(post: Post) -> None:
    turn = post.ask(mail("ann"))
    wrong: list[list[JSON]] = [
        [{"type": "approve"}, {"type": "approve"}],
        [{"type": "approve", "args": {"to": "bob"}}],
        [{"type": "edit"}],
        [{"type": "edit", "edited_action": {"args": {}}}],
        [{"type": "edit", "args": {"to": 7}}],
        [{"type": "edit", "args": {"to": "a\x00b"}}],
        [{"type": "edit", "edited_action": {"name": "wipe", "args": {"to": "bob"}}}],
        [{"type": "respond"}],
        [{"type": "reject", "remember": True}],
        [{"type": "sure"}],
        [],
    ]

    for decisions in wrong:
        check_problem(post.decide(turn, *decisions), 422)
    for half in ({"type": "edit", "args": {"to": "\ud800"}}, {"type": "approve", "\ud800": 1}):
        path = f"/turns/{turn['id']}/decisions"
        check_problem(send_json(post.stack, "POST", path, {"decisions": [half]}), 422)

    (approval,) = post.pending(turn)
    assert approval["status"] == "pending"
    assert post.stack.turn(turn["id"])["status"] == "waiting"
    stop(post.stack, turn["id"])


def test_a_rule_may_allow_some_decisions_only(stack: Stack) -> None:
    rules = [{"tools": "*", "action": "ask", "decisions": ["approve", "reject"]}]
    with open_post(stack, rules) as post:
        turn = post.ask(mail("ann"))

        problem = check_problem(post.decide(turn, {"type": "edit", "args": {"to": "bob"}}), 422)

        assert "approve or reject" in problem["detail"]
        stop(stack, turn["id"])


def test_a_decision_on_other_arguments_is_refused(post: Post) -> None:
    turn = post.ask(mail("ann"))
    (approval,) = post.pending(turn)

    refused = post.decide(turn, {"type": "approve", "arguments_hash": "0" * 64})
    taken = post.decide(turn, {"type": "approve", "arguments_hash": approval["arguments_hash"]})

    check_problem(refused, 409)
    assert taken.status_code == 200
    assert post.stack.finished(turn["id"])["status"] == "succeeded"


def test_arguments_that_changed_after_they_were_shown_never_run(post: Post) -> None:
    turn = post.ask(mail("ann"))
    post.stack.query_and_commit(
        f"UPDATE approvals SET arguments_hash = 'another' WHERE turn_id = '{turn['id']}'"
    )

    post.decide(turn, {"type": "approve"})

    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    (result,) = rows_of(post.stack, turn, "tool_result")
    assert "not those that a person has seen" in result["content"]["content"]
    assert post.calls() == []


def test_a_call_is_decided_once(post: Post) -> None:
    turn = post.ask(mail("ann"))

    with ThreadPoolExecutor(8) as pool:
        kinds = [{"type": "approve"}, {"type": "reject", "message": "no"}] * 4
        answers = list(pool.map(lambda kind: post.decide(turn, kind), kinds))

    taken = {answer.status_code for answer in answers}
    assert taken == {200, 409}
    said = next(answer for answer in answers if answer.status_code == 409)
    assert "local has already decided, at 20" in check_problem(said, 409)["detail"]
    assert post.stack.finished(turn["id"])["status"] == "succeeded"
    (asked,) = rows_of(post.stack, turn, "interrupt")
    is_approved = asked["metadata"]["decision"] == "approve"
    winners = {200} if is_approved else {409}
    assert {
        a.status_code for a, k in zip(answers, kinds, strict=True) if k["type"] == "approve"
    } == winners
    assert len(post.calls()) == is_approved
    (count,) = post.stack.query(
        "SELECT count(*) FROM audit_events WHERE subject_id = :id",
        id=asked["content"]["approval_id"],
    )
    assert count[0] == 1


def test_the_same_decision_again_is_answered_the_same_and_another_one_refused(post: Post) -> None:
    turn = post.ask(mail("ann"))
    (approval,) = post.pending(turn)
    path = f"/approvals/{approval['id']}/decision"
    edit = {"type": "edit", "args": {"to": "bob"}}

    first = post.stack.client.post(path, json=edit)
    again = post.stack.client.post(path, json=edit)
    in_turn = post.decide(turn, edit)
    altered = post.stack.client.post(path, json={"type": "edit", "args": {"to": "eve"}})

    assert first.status_code == again.status_code == in_turn.status_code == 200
    assert first.json() == again.json()
    check_problem(altered, 409)
    post.stack.finished(turn["id"])
    assert post.calls() == [("mail_send", {"to": "bob"})]


def test_a_turn_that_asks_nothing_cannot_be_decided(stack: Stack) -> None:
    turn = stack.chat(script({"text": "hello"}))
    body = {"decisions": [{"type": "approve"}]}

    check_problem(stack.client.post(f"/turns/{turn['turn_id']}/decisions", json=body), 409)
    check_problem(stack.client.post(f"/turns/{uuid4()}/decisions", json=body), 404)
    check_problem(
        stack.client.post(f"/approvals/{uuid4()}/decision", json=body["decisions"][0]), 404
    )


def test_a_tool_that_was_allowed_for_good_asks_no_more(post: Post) -> None:
    session_id = make_session(post.stack, post.domain)
    said = script({"tools": [mail("ann")]}, {"text": "done"})
    turn = post.ask_in(session_id, said)
    path = f"/sessions/{session_id}/allowed_tools"

    post.decide(turn, {"type": "approve", "remember": True})

    post.stack.finished(turn["id"])
    assert post.stack.client.get(path).json() == {"allowed_tools": ["mail_send"]}
    assert [
        row for row in rows_of(post.stack, turn, "notice") if "mail_send" in row["content"]["text"]
    ]
    post.stack.chat(said, session_id)
    assert len(post.calls()) == 2

    left = post.stack.client.delete(f"{path}/mail_send")

    assert left.json() == {"allowed_tools": []}
    again = post.ask_in(session_id, said)
    stop(post.stack, again["id"])
    assert len(post.calls()) == 2


def test_what_nobody_decides_in_time_expires_and_the_agent_goes_on(stack: Stack) -> None:
    rules = [{"tools": "*", "action": "ask", "expires_seconds": 1}]
    with open_post(stack, rules) as post:
        turn = post.ask(mail("ann"))

        assert stack.finished(turn["id"])["status"] == "succeeded"

        rows, _ = check_views(stack, turn["session_id"])
        (asked,) = [row for row in rows if row["content_type"] == "interrupt"]
        (result,) = [row for row in rows if row["content_type"] == "tool_result"]
        assert (asked["status"], asked["metadata"]["outcome"]) == ("stopped", "expired")
        assert "Nobody decided on this call within 1 seconds" in result["content"]["content"]
        late = check_problem(post.decide(turn, {"type": "approve"}), 409)
        assert "Nobody had decided" in late["detail"]
        assert post.calls() == []
        (audited,) = stack.query(
            "SELECT actor FROM audit_events WHERE subject_id = :id",
            id=asked["content"]["approval_id"],
        )
        assert audited[0] == SOFTWARE


def test_stopping_a_waiting_turn_takes_its_questions_back(post: Post) -> None:
    turn = post.ask(mail("ann"), mail("sam", "look_up"))

    assert stop(post.stack, turn["id"])["status"] == "stopped"

    rows, state = check_views(post.stack, turn["session_id"])
    (asked,) = [row for row in rows if row["content_type"] == "interrupt"]
    assert (asked["status"], asked["metadata"]["outcome"]) == ("stopped", "withdrawn")
    results = [row["content"] for row in rows if row["content_type"] == "tool_result"]
    assert [result["name"] for result in results] == ["look_up", "mail_send"]
    assert "was not run" in results[1]["content"]
    assert state["interrupt"] is None
    check_problem(post.decide(turn, {"type": "approve"}), 409)
    assert [name for name, _ in post.calls()] == ["look_up"]


def test_a_stopped_question_can_be_tried_again(post: Post) -> None:
    turn = post.ask(mail("ann"))
    stop(post.stack, turn["id"])

    retried = post.stack.client.post(f"/turns/{turn['id']}/retry")

    assert retried.status_code == 202, retried.text
    ended = post.stack.finished(retried.json()["id"])
    assert ended["status"] == "succeeded"
    check_views(post.stack, turn["session_id"])


def test_messages_wait_behind_a_turn_that_waits_and_nobody_hangs(post: Post) -> None:
    turn = post.ask(mail("ann"))
    path = f"/sessions/{turn['session_id']}/chat"

    behind = post.stack.client.post(path, json={"message": script({"text": "second"})})

    assert behind.status_code == 202
    assert behind.json()["status"] == "queued"
    post.decide(turn, {"type": "approve"})
    assert post.stack.finished(behind.json()["turn_id"])["status"] == "succeeded"


def test_a_chat_that_comes_to_wait_for_people_is_answered_at_once(post: Post) -> None:
    session_id = make_session(post.stack, post.domain)
    said = script({"tools": [mail("ann")]}, {"text": "done"})

    answer = post.stack.client.post(
        f"/sessions/{session_id}/chat", json={"message": said}, headers={"Prefer": "wait=50"}
    )

    assert answer.status_code == 202
    assert (answer.json()["status"], answer.json()["response"]) == ("waiting", None)
    assert answer.headers["location"].endswith(answer.json()["turn_id"])
    stop(post.stack, answer.json()["turn_id"])


def test_followers_hear_of_the_question_its_answer_and_the_end(post: Post) -> None:
    session_id = make_session(post.stack, post.domain)
    with post.stack.events(session_id) as events:
        turn = post.ask_in(session_id, script({"tools": [mail("ann")]}, {"text": "done"}))
        seen = [next(events)]
        while seen[-1]["event"] != "interrupt":
            seen.append(next(events))
        post.decide(turn, {"type": "approve"})
        while seen[-1]["event"] != "turn_finished":
            seen.append(next(events))

    names = [event["event"] for event in seen]
    asked = [e["data"]["message"] for e in seen if e["event"] == "message_added"]
    changed = [e["data"]["message"] for e in seen if e["event"] == "message_updated"]
    waits = next(event for event in seen if event["event"] == "interrupt")
    assert waits["data"]["turn"]["status"] == "waiting"
    assert "interrupt" in [message["content_type"] for message in asked]
    assert [(m["content_type"], m["status"]) for m in changed] == [
        ("interrupt", "completed"),
        ("tool_call", "executing"),
        ("tool_call", "completed"),
    ]
    assert "reset" not in names
    assert names.count("turn_started") == 2


def test_a_wait_that_redis_has_forgotten_is_told_once(post: Post) -> None:
    turn = post.ask(mail("ann"))
    with redis.Redis.from_url(post.stack.redis_url) as client:
        client.delete(f"colloquy:events:{turn['session_id']}")

    with post.stack.events(turn["session_id"]) as events:
        told = [next(events) for _ in range(5)]
    with post.stack.events(turn["session_id"], **{"Last-Event-ID": told[-1]["id"]}) as events:
        post.decide(turn, {"type": "reject"})
        then = next(events)

    names = [event["event"] for event in told]
    assert names == ["message_added"] * 4 + ["interrupt"]
    assert told[3]["data"]["message"]["content_type"] == "interrupt"
    assert told[4]["data"]["turn"]["status"] == "waiting"
    assert then["event"] == "message_updated"


def test_who_does_not_hold_the_session_neither_sees_nor_decides(post: Post) -> None:
    turn = post.ask(mail("ann"))
    (approval,) = post.pending(turn)
    settings = Settings(
        _env_file=None, database_url=post.stack.database_url, redis_url=post.stack.redis_url
    )
    services, eve = bootstrap(settings, threads=2), Scope("eve")
    yes = Decision(type=DecisionType.APPROVE)

    with pytest.raises(TurnNotFound):
        decide_turn(services, eve, UUID(turn["id"]), [yes])
    with pytest.raises(ApprovalNotFound):
        decide_call(services, eve, UUID(approval["id"]), yes)
    with services.database.read() as session:
        seen = list_approvals(session, eve, None, everyone=False, cursor=None, limit=50)
        count = count_pending(session, eve, everyone=False)
        with pytest.raises(NotAllowed):
            list_approvals(session, eve, None, everyone=True, cursor=None, limit=50)
        with pytest.raises(SessionNotFound):
            list_allowed(session, eve, UUID(turn["session_id"]))

    assert (seen.items, count) == ([], 0)
    assert post.stack.turn(turn["id"])["status"] == "waiting"
    services.database.close()
    stop(post.stack, turn["id"])


def test_a_deleted_session_takes_its_questions_along(post: Post) -> None:
    turn = post.ask(mail("ann"))

    post.stack.client.delete(f"/sessions/{turn['session_id']}")

    assert post.pending(turn) == []
    check_problem(post.decide(turn, {"type": "approve"}), 404)


def test_the_inbox_gives_pages_of_all_sessions_and_counts(post: Post) -> None:
    turns = [post.ask(mail(name)) for name in ("ann", "bob", "eve")]
    client = post.stack.client
    before = client.get("/approvals/count").json()["pending"]

    items, cursor = [], None
    while True:
        page = client.get(
            "/approvals", params={"limit": 2, **({"cursor": cursor} if cursor else {})}
        )
        items += page.json()["items"]
        cursor = page.json()["next_cursor"]
        if cursor is None:
            break

    ours = [item for item in items if item["turn_id"] in [turn["id"] for turn in turns]]
    assert [item["arguments"]["to"] for item in ours] == ["ann", "bob", "eve"]
    assert before == len(items)
    assert ours[0]["owner"] == "local" and ours[0]["message"].startswith("do it")
    metrics = client.get(f"{post.stack.base_url}/metrics").text
    assert f"colloquy_pending_approvals {float(before)}" in metrics
    for turn in turns:
        post.decide(turn, {"type": "reject"})
    decided = client.get("/approvals", params={"status": "decided", "limit": 3}).json()["items"]
    assert [item["arguments"]["to"] for item in decided] == ["eve", "bob", "ann"]
    assert client.get("/approvals/count").json()["pending"] == before - 3


def test_rules_that_make_no_sense_are_refused(stack: Stack) -> None:
    wrong: list[JSON] = [
        {},
        {"rules": []},
        {"rules": [{"tools": "", "action": "ask"}]},
        {"rules": [{"tools": "*", "action": "maybe"}]},
        {"rules": [{"tools": "*", "action": "ask", "decisions": []}]},
        {"rules": [{"tools": "*", "action": "ask", "expires_seconds": 0}]},
    ]

    for settings in wrong:
        body = {"name": f"d-{uuid4().hex[:8]}", "middleware": [{"approvals": settings}]}
        check_problem(stack.client.post("/domains", json=body), 422)


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
