"""Only a decision that fits what was shown counts, and only the first one."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import check_problem, send_json, stop
from tests.integration.turns.approvals.post import Post, mail, open_post, rows_of
from tests.stack import Stack


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
    problem = check_problem(post.decide(turn, *wrong[0]), 422)
    assert "2 decisions for 1 waiting call." in problem["detail"]
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


def test_what_has_expired_is_not_decided_even_while_no_worker_looks(own_stack: Stack) -> None:
    rules = [{"tools": "*", "action": "ask", "expires_seconds": 6}]
    with open_post(own_stack, rules) as post:
        turn = post.ask(mail("ann"))
        own_stack.kill_workers()
        (asked,) = post.pending(turn)
        is_over = "SELECT expires_at < clock_timestamp() FROM approvals WHERE id = :id"
        own_stack.wait_for(lambda: own_stack.query(is_over, id=asked["id"])[0][0], "never over")

        late = post.decide(turn, {"type": "approve"})
        own_stack.start_worker()
        own_stack.finished(turn["id"])

        check_problem(late, 409)
        assert post.calls() == []
