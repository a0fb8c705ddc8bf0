"""A host application reads whole agent states from the database, as the API gives them."""

from tests.fakes import ScriptedModel, script
from tests.stack import Stack

LONG = "a long answer that is stored once and named in the state " * 4


def stored_state(stack: Stack, session_id: str) -> dict:
    sql = "SELECT state_data FROM agent_states WHERE conversation_id = :id"
    return stack.query(sql, id=session_id)[0][0]


def test_view_gives_the_state_that_the_api_gives(stack: Stack) -> None:
    calls = [{"name": "list_sources", "args": {}, "id": "call_1"}]
    steps = [{"think": LONG + "!", "text": LONG, "tools": calls}, {"text": LONG + "?"}]
    session_id = stack.chat(script(*steps))["session_id"]
    stack.chat(script({"text": "short"}), session_id)

    state = stored_state(stack, session_id)

    assert state == stack.state(session_id)
    assert [m["role"] for m in state["messages"]] == [
        "user", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert state["messages"][1]["content"] == LONG


def test_view_follows_a_state_that_was_shortened(stack: Stack, model: ScriptedModel) -> None:
    middleware = [{"recent_messages": {"trigger": 6, "keep": 4}}]
    domain = stack.client.post("/domains", json={"name": "short", "middleware": middleware}).json()
    session_id = stack.client.post("/sessions", json={"domain": domain["id"]}).json()["id"]
    model.steps = [{"text": LONG}]

    for number in range(6):
        stack.chat(f"question {number}", session_id)

    assert stored_state(stack, session_id) == stack.state(session_id)
    assert len(stack.state(session_id)["messages"]) < 10
