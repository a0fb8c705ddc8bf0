"""What people decide on a call is what happens, call by call, and the agent goes on."""

from tests.fakes import script
from tests.integration.scenes import check_views, make_session, stop
from tests.integration.turns.approvals.post import Post, mail, rows_of


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
    assert (turn["waits_for"], answer.json()["waits_for"]) == ("people", None)
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
    told = [row for row in rows if row["content_type"] == "tool_result"]
    results = [row["content"] for row in told]
    assert [row["metadata"].get("outcome") for row in told] == ["rejected", None]
    assert "not to her" in results[0]["content"] and results[0]["is_error"]
    assert results[1]["content"] == "sent by hand" and not results[1]["is_error"]
    assert post.calls() == []


def test_calls_that_need_nobody_run_while_others_wait(post: Post) -> None:
    turn = post.ask(
        mail("ann"), mail("sam", "look_up"), mail("all", "wipe"), mail("bob", "mail_drop")
    )

    asked = rows_of(post.stack, turn, "interrupt")
    told = rows_of(post.stack, turn, "tool_result")
    results = {row["content"]["name"]: row["content"] for row in told}
    assert [row["content"]["name"] for row in asked] == ["mail_send", "mail_drop"]
    assert set(results) == {"look_up", "wipe"}
    assert "do not allow" in results["wipe"]["content"] and results["wipe"]["is_error"]
    assert [row["metadata"].get("outcome") for row in told] == [None, "denied"]
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
