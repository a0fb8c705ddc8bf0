"""A session whose agent state is missing, whole or in part, is one that can be rebuilt."""

import pytest

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.scenes import check_problem, check_views, texts
from tests.integration.turns.test_rebuilding import integrity, talk
from tests.stack import Stack

WHOLE = (
    "DELETE FROM agent_state_snapshots WHERE conversation_id = '{0}'",
    "DELETE FROM agent_state_deltas WHERE conversation_id = '{0}'",
)
DELTA = "DELETE FROM agent_state_deltas WHERE conversation_id = '{0}' AND version = "
SPOILS: dict[str, tuple[str, ...]] = {
    "all of it": WHOLE,
    "the snapshot": WHOLE[:1],
    "the first delta": (DELTA + "1",),
    "a delta in the middle": (DELTA + "2",),
    "two deltas": (DELTA + "2", DELTA + "3"),
    "the newest delta": (DELTA + "4",),
    "the newest deltas": (DELTA + "4", DELTA + "3"),
    "what was sent": ("DELETE FROM sent_contents WHERE conversation_id = '{0}'",),
}
MISSING = [kind for kind in SPOILS if kind != "what was sent"]


def spoil(stack: Stack, session_id: str, kind: str) -> None:
    for statement in SPOILS[kind]:
        stack.query_and_commit(statement.format(session_id))


@pytest.mark.chaos
@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_state_is_said_and_rebuilt_and_the_session_goes_on(
    stack: Stack, model: ScriptedModel, kind: str
) -> None:
    session_id = talk(stack, model)
    seen = stack.messages(session_id)
    spoil(stack, session_id, kind)
    model.steps = [{"text": "I remember."}]

    state = check_problem(stack.client.get(f"/sessions/{session_id}/state"), 409)
    failed = stack.finished(stack.submit("And now?", session_id)["turn_id"])
    rows = stack.messages(session_id)
    rebuilt = stack.client.post(f"/sessions/{session_id}/rebuild")
    again = stack.client.post(f"/turns/{failed['id']}/retry").json()

    assert (state["title"], failed["error"]["title"]) == ("Corrupt state", "Corrupt state")
    assert "Rebuild" in state["detail"] and "Rebuild" in failed["error"]["detail"]
    assert rows[: len(seen)] == seen and rows[-1]["metadata"] == {"offer": "rebuild"}
    assert rebuilt.status_code == 200, rebuilt.text
    assert stack.finished(again["id"])["status"] == "succeeded"
    rows, _ = check_views(stack, session_id)
    assert texts(rows, "assistant") == ["Found it.", "I remember."]
    assert integrity(stack, session_id)[0] == 0


@pytest.mark.parametrize("statement", [WHOLE[1], WHOLE[1] + " AND version > 2"])
def test_integrity_finds_and_mends_a_state_whose_newest_versions_are_missing(
    stack: Stack, model: ScriptedModel, statement: str
) -> None:
    session_id = talk(stack, model)
    model.steps = [{"text": "Once more."}]
    stack.chat("Again.", session_id)
    whole = stack.state(session_id)["messages"]
    stack.query_and_commit(statement.format(session_id))

    found = integrity(stack, session_id)
    repaired = integrity(stack, session_id, "--repair")

    assert found[0] == 1 and "its newest are missing" in found[1]
    assert repaired[0] == 0 and "done: " in repaired[1]
    assert integrity(stack, session_id)[0] == 0
    _, state = check_views(stack, session_id)
    assert [one["role"] for one in state["messages"]] == [one["role"] for one in whole]


@pytest.mark.parametrize("kind", MISSING)
def test_integrity_finds_and_mends_a_missing_state(
    stack: Stack, model: ScriptedModel, kind: str
) -> None:
    session_id = talk(stack, model)
    spoil(stack, session_id, kind)

    found = integrity(stack, session_id)
    repaired = integrity(stack, session_id, "--repair")

    assert found[0] == 1 and "its agent state cannot be read" in found[1]
    assert repaired[0] == 0 and "done: " in repaired[1]
    assert integrity(stack, session_id)[0] == 0
    check_views(stack, session_id)


ROUTES: list[tuple[str, str, JSON | None]] = [
    ("GET", "/sessions/{session}", None),
    ("GET", "/sessions/{session}/messages", None),
    ("GET", "/sessions/{session}/state", None),
    ("GET", "/sessions/{session}/image", None),
    ("GET", "/sessions/{session}/inspection", None),
    ("GET", "/sessions/{session}/calls", None),
    ("GET", "/sessions/{session}/calls/{call}", None),
    ("GET", "/sessions/{session}/branches", None),
    ("GET", "/sessions/{session}/turns", None),
    ("GET", "/sessions/{session}/usage", None),
    ("GET", "/sessions/{session}/drift", None),
    ("POST", "/sessions/{session}/branch", {"turn_id": "{turn}"}),
    ("POST", "/sessions/{session}/continue", {}),
    ("POST", "/turns/{turn}/retry", None),
    ("POST", "/turns/{turn}/edit", {"message": "Other words."}),
    ("POST", "/turns/{turn}/stop", None),
    ("POST", "/sessions/{session}/stop", None),
    ("PATCH", "/sessions/{session}", {"title": "A name"}),
    ("POST", "/sessions/{session}/chat", {"message": "And now?"}),
    ("POST", "/sessions/{session}/rebuild", None),
    ("DELETE", "/sessions/{session}", None),
]


@pytest.mark.parametrize("kind", ["all of it", "a delta in the middle", "what was sent"])
def test_no_route_of_such_a_session_fails_without_a_sentence(
    stack: Stack, model: ScriptedModel, kind: str
) -> None:
    session_id = talk(stack, model)
    call = stack.client.get(f"/sessions/{session_id}/calls").json()["items"][0]
    names = {
        "session": session_id,
        "turn": stack.messages(session_id)[0]["turn_id"],
        "call": f"{call['version']}/{call['number']}",
    }
    spoil(stack, session_id, kind)

    odd = []
    for method, path, body in ROUTES:
        filled = {key: value.format(**names) for key, value in body.items()} if body else body
        answer = stack.client.request(method, path.format(**names), json=filled)
        is_refused = answer.status_code >= 400
        said = answer.json().get("detail") if is_refused else "fine"
        is_gone = answer.status_code == 404 and "{call}" not in path
        if is_gone or answer.status_code >= 500 or not said:
            odd.append((method, path, answer.status_code, answer.text[:200]))
    assert odd == []
