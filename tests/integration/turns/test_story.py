"""A message's way, from the API to a worker and back, on real servers and processes."""

from tests.fakes import ScriptedModel, script
from tests.stack import Stack


def texts(rows: list) -> list:
    return [row["content"].get("text") for row in rows if row["content_type"] == "text"]


def test_answer_and_both_views_are_stored(stack: Stack, model: ScriptedModel) -> None:
    model.steps = [{"think": "hm", "text": "Hello there."}]

    answer = stack.chat("Hi")

    rows = stack.messages(answer["session_id"])
    assert answer["status"] == "succeeded"
    assert answer["response"] == "Hello there."
    assert [(row["position"], row["message_type"], row["content_type"]) for row in rows] == [
        (1, "user", "text"),
        (2, "assistant", "thinking"),
        (3, "assistant", "text"),
    ]
    state = stack.state(answer["session_id"])
    assert [message["role"] for message in state["messages"]] == ["user", "assistant"]


def test_next_turn_restores_the_conversation(stack: Stack, model: ScriptedModel) -> None:
    model.steps = [{"text": "First."}]
    session_id = stack.chat("One")["session_id"]

    stack.chat("Two", session_id)

    sent = [(m["role"], m["content"]) for m in model.messages[-1] if m["role"] != "system"]
    assert sent == [("user", "One"), ("assistant", "First."), ("user", "Two")]


def test_tool_turn_shows_call_and_result(stack: Stack) -> None:
    calls = [{"name": "list_sources", "args": {}, "id": "call_1"}]
    message = script({"text": "Looking.", "tools": calls}, {"text": "Done."})

    session_id = stack.chat(message)["session_id"]

    kinds = [(row["content_type"], row["status"]) for row in stack.messages(session_id)]
    assert kinds == [
        ("text", "completed"),
        ("text", "completed"),
        ("tool_call", "completed"),
        ("tool_result", "completed"),
        ("text", "completed"),
    ]


def test_messages_queue_in_order_while_a_turn_runs(stack: Stack) -> None:
    first = stack.submit(script({"text": "slow answer", "delay": 0.3}))
    session_id = first["session_id"]
    waiting = [stack.submit(f"message {n}", session_id) for n in (1, 2)]

    for turn in (first, *waiting):
        stack.finished(turn["turn_id"])

    said = [
        row["content"]["text"]
        for row in stack.messages(session_id)
        if row["message_type"] == "user"
    ]
    assert said[1:] == ["message 1", "message 2"]


def test_stop_keeps_what_was_said_and_the_session_goes_on(stack: Stack) -> None:
    turn = stack.submit(script({"text": "word " * 200, "delay": 0.05}))
    session_id = turn["session_id"]
    with stack.events(session_id) as events:
        next(event for event in events if event["event"] == "text_delta")
        stack.client.post(f"/sessions/{session_id}/stop")

    stopped = stack.finished(turn["turn_id"])

    assert stopped["status"] == "stopped"
    partial = [row for row in stack.messages(session_id) if row["status"] == "stopped"]
    assert partial[0]["content"]["text"].startswith("word")
    assert stack.chat("go on", session_id)["status"] == "succeeded"
