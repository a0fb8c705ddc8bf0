"""What failed on a branch that is not shown is not the session's failure, nor retryable there."""

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import check_problem
from tests.integration.turns.branching.branches import edit, switch, talk
from tests.stack import Stack

FAILING = script({"status": 400, "text": "no"})


def failed_edit(stack: Stack, turn_id: str) -> str:
    """Edit a message so that its turn fails; return the new turn's id."""
    new = edit(stack, turn_id, FAILING).json()["id"]
    assert stack.finished(new)["status"] == "failed"
    return new


def failure(stack: Stack, turn_id: str) -> JSON:
    """The turn as the work lists it."""
    listed = stack.client.get("/work").json()["failures"]
    return next(each for each in listed if each["id"] == turn_id)


def has_failed(stack: Stack, session_id: str) -> list[bool]:
    """Whether the session says that it has failed: on its own, and in the list."""
    one = stack.client.get(f"/sessions/{session_id}").json()
    listed = stack.client.get("/sessions", params={"domain": one["domain"]}).json()["items"]
    return [one["has_failed"], *(each["has_failed"] for each in listed)]


def test_a_failure_on_another_branch_is_neither_shown_nor_retryable(stack: Stack) -> None:
    session_id, (first, _) = talk(stack, "one", "two")
    failed = failed_edit(stack, first)
    assert failure(stack, failed)["is_retryable"]
    assert has_failed(stack, session_id) == [True, True]

    switch(stack, session_id, first)

    assert not failure(stack, failed)["is_retryable"]
    check_problem(stack.client.post(f"/turns/{failed}/retry"), 409)
    assert has_failed(stack, session_id) == [False, False]


def test_a_failure_is_retryable_again_once_its_branch_is_shown(stack: Stack) -> None:
    session_id, (first,) = talk(stack, "one")
    failed = failed_edit(stack, first)
    switch(stack, session_id, first)
    stack.chat("more", session_id)

    switch(stack, session_id, failed)

    assert failure(stack, failed)["is_retryable"]
    assert has_failed(stack, session_id) == [True, True]
    again = stack.client.post(f"/turns/{failed}/retry")
    assert (again.status_code, again.json()["fork_of"]) == (202, first)


def test_failures_are_of_the_last_day_whenever_their_messages_came(stack: Stack) -> None:
    session_id, _ = talk(stack, "one")
    failed = [stack.submit(FAILING, session_id)["turn_id"] for _ in range(2)]
    for each in failed:
        stack.finished(each)
    age = "UPDATE turns SET created_at = now() - interval '3 days' WHERE id = :turn"
    stack.query_and_commit(age, turn=failed[0])
    age = "UPDATE turns SET finished_at = now() - interval '25 hours' WHERE id = :turn"
    stack.query_and_commit(age, turn=failed[1])

    listed = {each["id"] for each in stack.client.get("/work").json()["failures"]}

    assert listed.intersection(failed) == {failed[0]}
