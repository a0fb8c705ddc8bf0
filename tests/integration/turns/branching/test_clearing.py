"""Clearing a session: a branch that begins empty, and the way back to what was said before."""

from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.scenes import check_problem, check_views, make_session, wait_for_event
from tests.integration.turns.branching.branches import (
    asked,
    edited,
    read,
    sent,
    shown,
    switch,
    talk,
    versions,
)
from tests.stack import Stack


def is_whole(stack: Stack, session_id: str) -> bool:
    code, _ = stack.run("-m", "backend.operations.integrity", "--session", session_id)
    return code == 0


def clear(stack: Stack, session_id: str) -> dict:
    answer = stack.client.post(f"/sessions/{session_id}/clear")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_cleared_session_begins_anew_and_nothing_is_lost(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id, _ = talk(stack, "one", "two")
    before, remembered = check_views(stack, session_id)

    cleared = clear(stack, session_id)

    assert (cleared["branch"], cleared["left"]) == (2, 1)
    assert shown(stack, session_id) == []
    assert read(stack, session_id) == []
    rows, _ = check_views(stack, session_id)
    assert rows == before
    stack.chat("three", session_id)
    assert sent(model) == ["three"]
    assert asked(stack, session_id) == ["three"]
    rows, _ = check_views(stack, session_id)
    assert rows[: len(before)] == before
    assert stack.client.get(f"/sessions/{session_id}/branches").json()["left"] is None
    assert remembered["messages"] != []
    assert is_whole(stack, session_id)


def test_one_goes_back_before_anything_is_said(stack: Stack) -> None:
    session_id, _ = talk(stack, "one", "two")
    remembered = read(stack, session_id)
    left = clear(stack, session_id)["left"]

    back = stack.client.post(f"/sessions/{session_id}/branch", json={"branch": left})

    assert back.json()["branch"] == left
    assert asked(stack, session_id) == ["one", "two"]
    assert read(stack, session_id) == remembered
    stack.chat("three", session_id)
    assert asked(stack, session_id) == ["one", "two", "three"]


def test_the_first_messages_before_and_after_are_versions_of_each_other(stack: Stack) -> None:
    session_id, (first, _) = talk(stack, "one", "two")
    clear(stack, session_id)
    second = stack.chat("three", session_id)["turn_id"]
    clear(stack, session_id)
    third = stack.chat("four", session_id)["turn_id"]
    edit = edited(stack, third, "five")

    assert versions(stack, session_id) == [([first, second, third, edit], [edit])]
    for turn_id, said in ((second, ["three"]), (first, ["one", "two"]), (third, ["four"])):
        assert switch(stack, session_id, turn_id).status_code == 200
        assert asked(stack, session_id) == said


def test_clearing_an_empty_session_changes_nothing(stack: Stack) -> None:
    empty = make_session(stack)
    session_id, _ = talk(stack, "one")

    assert clear(stack, empty) == {"branch": None, "items": [], "left": None}
    assert clear(stack, session_id) == clear(stack, session_id)


def test_it_is_refused_while_a_turn_runs(stack: Stack) -> None:
    session_id, _ = talk(stack, "one")
    turn = stack.submit(script(ENDLESS), session_id)
    wait_for_event(stack, session_id, "text_delta")

    problem = check_problem(stack.client.post(f"/sessions/{session_id}/clear"), 409)

    assert "stop it, then clear" in problem["detail"]
    stack.client.post(f"/turns/{turn['turn_id']}/stop")
    stack.finished(turn["turn_id"])
    assert len(asked(stack, session_id)) == 2


def test_a_branch_that_is_not_there_is_not_shown(stack: Stack) -> None:
    session_id, (turn,) = talk(stack, "one")
    path = f"/sessions/{session_id}/branch"

    check_problem(stack.client.post(path, json={"branch": 7}), 404)
    for body in ({}, {"branch": 0}, {"branch": 1, "turn_id": turn}):
        check_problem(stack.client.post(path, json=body), 422)
