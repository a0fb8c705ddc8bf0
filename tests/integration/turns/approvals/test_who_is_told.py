"""Followers and the inbox show what waits for a decision, to those who may see the session."""

from uuid import UUID

import pytest
import redis

from backend.approvals.allowed_tools import list_allowed
from backend.approvals.inbox import count_pending, list_approvals
from backend.auth.scope import Scope
from backend.bootstrap import bootstrap
from backend.errors.approvals import ApprovalNotFound
from backend.errors.base import NotAllowed
from backend.errors.conversations import SessionNotFound
from backend.errors.turns import TurnNotFound
from backend.schemas.approvals import Decision, DecisionType
from backend.settings import Settings
from backend.turns.control.decide import decide_call, decide_turn
from tests.fakes import script
from tests.integration.scenes import check_problem, make_session, stop
from tests.integration.turns.approvals.post import Post, mail


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


def test_a_cursor_is_refused_in_another_order_and_by_another_list(post: Post) -> None:
    turns = [post.ask(mail(name)) for name in ("ann", "bob")]
    client = post.stack.client
    cursor = client.get("/approvals", params={"limit": 1}).json()["next_cursor"]

    here = {"cursor": cursor, "limit": 1}
    answered = client.get("/approvals", params={**here, "status": "pending"})
    refused = (
        client.get("/approvals", params={**here, "status": "all"}),
        client.get("/approvals", params={**here, "status": "decided"}),
        client.get("/files", params=here),
        client.get(f"/sessions/{turns[0]['session_id']}/artifacts", params=here),
    )

    assert answered.status_code == 200, answered.text
    for answer in refused:
        assert "another order" in check_problem(answer, 422)["detail"]
    for turn in turns:
        post.decide(turn, {"type": "reject"})
