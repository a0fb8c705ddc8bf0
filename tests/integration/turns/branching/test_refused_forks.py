"""What cannot be forked is refused in words, and edits sent at once make one branch at a time."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest

from tests.integration.scenes import check_problem, check_views, stop, texts, wait_for_event
from tests.integration.turns.answers_to_stop import LONG
from tests.integration.turns.branching.branches import asked, edit, edited, switch, talk, versions
from tests.stack import Stack


def test_nothing_is_forked_or_switched_while_a_turn_is_not_finished(stack: Stack) -> None:
    session_id, (first, second) = talk(stack, "one", "two")
    edited(stack, second, "other")
    running = stack.submit(LONG, session_id)["turn_id"]
    wait_for_event(stack, session_id, "text_delta")
    queued = stack.submit("later", session_id)["turn_id"]

    for answer in (
        edit(stack, first, "no"),
        edit(stack, running, "no"),
        edit(stack, queued, "no"),
        stack.client.post(f"/turns/{first}/retry"),
        switch(stack, session_id, second),
    ):
        assert "not finished" in check_problem(answer, 409)["detail"]

    stop(stack, running)
    stack.finished(queued)
    assert "no" not in asked(stack, session_id)


def test_what_another_branch_holds_cannot_be_edited(stack: Stack) -> None:
    session_id, (first, second) = talk(stack, "one", "two")
    edited(stack, first, "other")

    check_problem(edit(stack, second, "no"), 409)
    check_problem(stack.client.post(f"/turns/{second}/retry"), 409)

    assert asked(stack, session_id) == ["other"]


def test_a_message_that_was_taken_back_is_in_no_branch(stack: Stack) -> None:
    session_id, _ = talk(stack, "one")
    running = stack.submit(LONG, session_id)["turn_id"]
    withdrawn = stack.submit("later", session_id)["turn_id"]
    stop(stack, withdrawn)
    stop(stack, running)
    stack.finished(running)
    stack.chat("two", session_id)

    check_problem(edit(stack, withdrawn, "no"), 409)
    check_problem(stack.client.post(f"/turns/{withdrawn}/retry"), 409)
    check_problem(switch(stack, session_id, withdrawn), 409)


def test_a_session_whose_memory_is_incomplete_says_why_it_cannot_be_forked(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")
    stack.query_and_commit(f"UPDATE turns SET state_version = NULL WHERE id = '{first}'")

    assert "missing from the database" in check_problem(edit(stack, first, "other"), 409)["detail"]
    assert versions(stack, session_id) == []


@pytest.mark.parametrize("message", ["", " \n"])
def test_an_empty_edit_is_refused(stack: Stack, message: str) -> None:
    session_id, (first,) = talk(stack, "one")

    check_problem(edit(stack, first, message), 422)

    assert len(stack.messages(session_id)) == 2


def test_missing_turns_and_sessions_are_not_found(stack: Stack) -> None:
    session_id, _ = talk(stack, "one")
    _, (elsewhere,) = talk(stack, "two")

    check_problem(edit(stack, str(uuid4()), "no"), 404)
    check_problem(switch(stack, session_id, str(uuid4())), 404)
    check_problem(switch(stack, session_id, elsewhere), 404)
    check_problem(switch(stack, str(uuid4()), elsewhere), 404)
    check_problem(stack.client.get(f"/sessions/{uuid4()}/branches"), 404)


@pytest.mark.parametrize("path", ["edit", "retry"])
def test_one_key_starts_one_turn(stack: Stack, path: str) -> None:
    session_id, (first,) = talk(stack, "one")
    headers = {"Idempotency-Key": uuid4().hex}
    body = {"message": "other"} if path == "edit" else None

    def post(_: int) -> httpx.Response:
        return stack.client.post(f"/turns/{first}/{path}", json=body, headers=headers)

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(post, range(20)))

    assert {answer.status_code for answer in answers} == {202}
    (new,) = {answer.json()["id"] for answer in answers}
    stack.finished(new)
    assert post(0).json()["id"] == new
    assert len(asked(stack, session_id)) == 1
    assert len(texts(stack.messages(session_id), "user")) == 2
    check_problem(edit(stack, first, "third", **headers), 422)


def test_two_edits_at_once_make_one_branch_at_a_time(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: edit(stack, first, f"other {n}"), range(8)))

    taken = [answer for answer in answers if answer.status_code == 202]
    assert taken
    assert {answer.status_code for answer in answers} <= {202, 409}
    for answer in taken:
        stack.finished(answer.json()["id"])
    check_views(stack, session_id)
