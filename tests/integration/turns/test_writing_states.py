"""An agent state is read, changed and written back; what does not hold is refused by its place."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.people.people import accounts_of
from tests.integration.people.test_reviews import Scene
from tests.integration.scenes import (
    check_problem,
    check_views,
    continued,
    make_domain,
    make_session,
    wait_for_event,
)
from tests.integration.turns.branching.branches import edited
from tests.integration.turns.test_rebuilding import integrity
from tests.stack import Stack

LONG = "A figure that is longer than what a reference to a display message would take, by far."
CALL: JSON = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ASKS: JSON = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT: JSON = {"role": "tool", "content": "found", "tool_call_id": "a"}


def talk(stack: Stack, model: ScriptedModel) -> str:
    model.steps = [{"tools": [{"name": "list_sources", "id": "a"}]}, {"text": LONG}]
    session_id = make_session(stack, make_domain(stack, middleware=[])["name"])
    stack.chat("Look it up, and say in one long sentence what you have found there.", session_id)
    model.steps = [{"text": "So it is."}]
    return session_id


def read(stack: Stack, session_id: str) -> tuple[JSON, str]:
    answer = stack.client.get(f"/sessions/{session_id}/state")
    return answer.json(), answer.headers["etag"]


def write(stack: Stack, session_id: str, state: Any, tag: str | None) -> httpx.Response:
    headers = {"If-Match": tag} if tag else {}
    return stack.client.put(f"/sessions/{session_id}/state", json=state, headers=headers)


def test_the_model_reads_what_was_written_and_people_see_what_was_said(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id = talk(stack, model)
    seen = stack.messages(session_id)
    state, tag = read(stack, session_id)
    state["messages"][-1]["content"] = "The figure is 42."
    state["files"] = {"note.md": {"content": "by hand"}}

    written = write(stack, session_id, state, tag)

    assert written.status_code == 204, written.text
    now, newer = read(stack, session_id)
    assert (now, newer) == (state, written.headers["etag"])
    rows, _ = check_views(stack, session_id)
    assert rows[: len(seen)] == seen
    (notice,) = rows[len(seen) :]
    assert notice["content_type"] == "notice"
    assert "replaced: it reads 4 messages now" in notice["content"]["text"]
    stack.chat("Is it?", session_id)
    assert [m["content"] for m in model.messages[-1]][-2:] == ["The figure is 42.", "Is it?"]
    assert integrity(stack, session_id)[0] == 0
    (event,) = stack.query(
        "SELECT actor, details FROM audit_events WHERE action = 'state_replaced'"
        " AND subject_id = :id",
        id=session_id,
    )
    assert (event.actor, event.details["messages"]) == ("local", 4)


def test_what_was_only_read_is_not_written_again(stack: Stack, model: ScriptedModel) -> None:
    session_id = talk(stack, model)
    before = stack.messages(session_id)
    state, tag = read(stack, session_id)

    written = write(stack, session_id, state, tag)

    assert (written.status_code, written.headers["etag"]) == (204, tag)
    assert stack.messages(session_id) == before


def test_texts_that_people_see_stay_stored_once(stack: Stack, model: ScriptedModel) -> None:
    session_id = talk(stack, model)
    state, tag = read(stack, session_id)
    state["messages"] = [state["messages"][0], state["messages"][-1]]

    write(stack, session_id, state, tag).raise_for_status()

    (delta,) = stack.query(
        "SELECT delta FROM agent_state_deltas WHERE conversation_id = CAST(:id AS uuid)"
        " ORDER BY version DESC LIMIT 1",
        id=session_id,
    )
    assert LONG not in str(delta)
    assert "$shown" in str(delta)
    assert read(stack, session_id)[0] == state


def test_earlier_branches_keep_the_state_that_they_had(stack: Stack, model: ScriptedModel) -> None:
    session_id = talk(stack, model)
    asked = stack.chat("And then?", session_id)["turn_id"]
    state, tag = read(stack, session_id)
    write(stack, session_id, {"version": 1, "messages": state["messages"][:1]}, tag)

    edited(stack, asked, "And before?")

    assert [m["content"] for m in model.messages[-1]][-2:] == [LONG, "And before?"]
    assert integrity(stack, session_id)[0] == 0


def test_a_written_state_goes_on_in_a_new_session_and_in_the_inspector(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id = talk(stack, model)
    state, tag = read(stack, session_id)
    given = [{"role": "user", "content": "never said"}, {"role": "assistant", "content": "Well."}]
    write(stack, session_id, {**state, "messages": given}, tag).raise_for_status()

    inspected = stack.client.get(f"/sessions/{session_id}/inspection")
    new = continued(stack, session_id)["id"]

    assert inspected.status_code == 200, inspected.text
    assert "never said" in inspected.text
    kept = read(stack, new)[0]["messages"]
    assert [{"role": m["role"], "content": m["content"]} for m in kept] == given
    assert len({m["id"] for m in kept}) == 2
    assert integrity(stack, new)[0] == 0


def test_who_read_an_older_state_or_names_none_writes_nothing(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id = talk(stack, model)
    state, tag = read(stack, session_id)
    stack.chat("Go on.", session_id)
    now = read(stack, session_id)

    for other in (tag, "*", f"W/{now[1]}", '"x"'):
        problem = check_problem(write(stack, session_id, state, other), 412)
        assert "Read it again" in problem["detail"]
    check_problem(write(stack, session_id, state, None), 428)
    assert read(stack, session_id) == now


def test_a_session_at_work_is_left_alone(stack: Stack, model: ScriptedModel) -> None:
    session_id = talk(stack, model)
    turn = stack.submit(script(ENDLESS), session_id)
    wait_for_event(stack, session_id, "text_delta")
    state, tag = read(stack, session_id)

    problem = check_problem(write(stack, session_id, state, tag), 409)

    assert "then read the state again" in problem["detail"]
    stack.client.post(f"/turns/{turn['turn_id']}/stop")
    stack.finished(turn["turn_id"])


WRONG: list[tuple[Any, str]] = [
    ({"version": 99, "messages": []}, "version"),
    ({"messages": []}, "version"),
    ({"version": 1, "messages": {}}, "messages"),
    ({"version": 1, "messages": [], "todos": {}}, "todos: this must be a list"),
    ({"version": 1, "messages": [], "interrupt": {"calls": []}}, "interrupt"),
    ({"version": 1, "messages": [], "payload": {"n": 2**70}}, "too large"),
    ([{"role": "user", "content": "a"}, {"role": "king", "content": "b"}], "messages[1]: it needs"),
    ([{"role": "user", "content": {"$shown": 1}}], "messages[0]: it needs"),
    ([{"role": "user", "content": [7]}], "messages[0]: one of its fields"),
    (
        [{"role": "assistant", "content": "a",
          "additional_kwargs": {"reasoning_content": {"$shown": 1}}}],
        "reasoning_content",
    ),
    ([{"role": "user", "content": "a", "id": 7}], "its id must be a text"),
    ([ASKS], "messages[0]: no result follows its call of look (a)"),
    ([ASKS, {"role": "user", "content": "a"}, RESULT], "messages[0]: no result"),
    ([RESULT], "messages[0]: it is the result of the call a"),
    ([ASKS, RESULT, RESULT], "messages[2]: it is the result"),
    ([{**ASKS, "tool_calls": [CALL, CALL]}, RESULT, RESULT], "an id of its own"),
    ([{**ASKS, "invalid_tool_calls": [{}]}, RESULT], "invalid_tool_calls"),
]  # fmt: skip


def test_what_no_model_would_accept_is_refused_with_its_place(
    stack: Stack, model: ScriptedModel
) -> None:
    session_id = talk(stack, model)
    now = read(stack, session_id)

    for given, said in WRONG:
        state = {"version": 1, "messages": given} if isinstance(given, list) else given
        problem = check_problem(write(stack, session_id, state, now[1]), 422)
        assert said in problem["detail"], (given, problem)
    for odd in ([], "state", None):
        check_problem(write(stack, session_id, odd, now[1]), 422)
    assert read(stack, session_id) == now


@pytest.fixture
def scene(stack: Stack, tmp_path: Path, model: ScriptedModel) -> Any:
    with accounts_of(stack, tmp_path, review="reason") as accounts:
        yield Scene(stack, accounts, model)


def test_the_notice_names_who_did_it(scene: Scene) -> None:
    path = f"{scene.path}/state"
    before = scene.owner.get(path)
    state = {**before.json(), "messages": []}

    answer = scene.owner.put(path, json=state, headers={"If-Match": before.headers["etag"]})

    assert answer.status_code == 204, answer.text
    rows = scene.owner.get(f"{scene.path}/messages").json()["items"]
    assert f"replaced by {scene.owner_id}" in rows[-1]["content"]["text"]
