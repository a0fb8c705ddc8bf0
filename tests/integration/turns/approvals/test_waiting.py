"""A turn that waits for people holds up nobody else, and expires or is stopped in order."""

from backend.audit import SOFTWARE
from tests.fakes import script
from tests.integration.scenes import check_problem, check_views, make_session, stop
from tests.integration.turns.approvals.post import Post, mail, open_post
from tests.stack import Stack


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
        assert result["metadata"]["outcome"] == "expired"
        late = check_problem(post.decide(turn, {"type": "approve"}), 409)
        assert "Nobody had decided" in late["detail"]
        assert post.calls() == []
        (audited,) = stack.query(
            "SELECT actor FROM audit_events WHERE subject_id = :id",
            id=asked["content"]["approval_id"],
        )
        assert audited[0] == SOFTWARE


def test_a_question_is_no_step(post: Post) -> None:
    turn = post.ask(mail("ann"))
    asked = turn["steps"]

    post.decide(turn, {"type": "approve"})

    assert (asked, post.stack.finished(turn["id"])["steps"]) == (1, 3)


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


def test_a_deleted_session_takes_its_questions_along(post: Post) -> None:
    turn = post.ask(mail("ann"))

    post.stack.client.delete(f"/sessions/{turn['session_id']}")

    assert post.pending(turn) == []
    check_problem(post.decide(turn, {"type": "approve"}), 404)
