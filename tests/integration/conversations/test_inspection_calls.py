"""Each request that a model was sent is given again, byte for byte, whatever policies did to it."""

import json
from uuid import uuid4

from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_problem, make_domain, make_session, stop, tool_domain
from tests.stack import Stack

LONG = "The ledger of that year says, line by line, what was spent and by whom. " * 12


def calls_of(stack: Stack, session_id: str) -> list[JSON]:
    """All calls of a session, oldest first, with what they sent."""
    items: list[JSON] = []
    before: int | None = None
    while True:
        params = {"limit": 3} | ({"before": before} if before else {})
        page = stack.client.get(f"/sessions/{session_id}/calls", params=params).json()
        items += page["items"]
        before = page["next_before"]
        if before is None:
            break
    return [
        stack.client.get(f"/sessions/{session_id}/calls/{c['version']}/{c['number']}").json()
        for c in reversed(items)
    ]


def given_again(call: JSON) -> JSON:
    tools = {"tools": call["tools"]} if call["tools"] else {}
    messages = [sent["message"] for sent in call["messages"]]
    return {**call["settings"], "messages": messages, **tools}


def written(body: JSON) -> str:
    """A request as text; its own keys in one order, all within it as they were sent."""
    return json.dumps(dict(sorted(body.items())))


def check_all(stack: Stack, session_id: str, received: list[JSON]) -> list[JSON]:
    """Every request that the server received is kept, in order, and the same."""
    calls = calls_of(stack, session_id)
    assert [written(given_again(call)) for call in calls] == [written(body) for body in received]
    assert all(call["is_proven"] for call in calls)
    return calls


def test_a_conversation_without_policies_is_given_again(stack: Stack, model: ScriptedModel):
    with tool_domain(stack, lambda name, arguments: {"found": LONG}, "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        call = {"name": "look", "args": '{"b": 1,  "a": "ü"}'}
        stack.chat(
            script({"text": "I look.", "think": "hm", "tools": [call]}, {"text": LONG}), session_id
        )
        stack.chat("and now?", session_id)

    calls = check_all(stack, session_id, model.requests)

    assert [(call["turn"], call["step"]) for call in calls] == [(1, 1), (1, 3), (2, 1)]
    assert [call["purpose"] for call in calls] == ["answer"] * 3
    assert all(call["input_tokens"] and call["output_tokens"] for call in calls)
    assert calls[0]["model"] == "scripted"
    assert calls[2]["message_count"] == len(model.requests[2]["messages"])


def test_what_stands_in_the_state_is_not_stored_again(stack: Stack, model: ScriptedModel):
    domain = make_domain(stack, system_prompt=f"Be kind. {uuid4()}", tools=[])
    session_id = make_session(stack, domain["name"])
    for _ in range(4):
        stack.chat(LONG, session_id)

    check_all(stack, session_id, model.requests)

    counted = (
        "SELECT count(*), sum(length(content::text)) FROM sent_contents WHERE conversation_id = :id"
    )
    ((count, size),) = stack.query(counted, id=session_id)
    assert count == 2  # the prompt, and the request's frame
    assert size < len(LONG)


def test_summaries_todos_and_edits_are_given_again(stack: Stack, model: ScriptedModel):
    middleware = [
        "todos",
        {"summarization": {"trigger_tokens": 900, "keep_tokens": 300}},
        {"context_editing": {"trigger_tokens": 300, "keep": 0}},
    ]
    model.steps = _looks_then_answers
    with tool_domain(stack, lambda name, arguments: LONG, "look") as (made, _):
        domain = make_domain(
            stack, mcp_servers=made["mcp_servers"], middleware=middleware, system_prompt="Be brief."
        )
        session_id = make_session(stack, domain["name"])
        for number in range(5):
            stack.chat(f"What was spent in 20{number:02}?", session_id)

    calls = check_all(stack, session_id, model.requests)

    purposes = {call["purpose"] for call in calls}
    assert purposes == {"answer", "summary"}
    summary = next(call for call in calls if call["purpose"] == "summary")
    assert summary["input_tokens"] and summary["output_tokens"]
    edited = [s for call in calls for s in call["messages"] if "left out" in str(s["message"])]
    assert edited and all(sent["place"] is None for sent in edited)


def test_a_call_that_failed_is_kept_beside_the_one_that_answered(
    stack: Stack, model: ScriptedModel
):
    def answer(messages: list[JSON], body: JSON) -> JSON:
        if body["model"] == "scripted":
            return {"status": 401, "text": "no such key"}
        return {"text": "the other one answers"}

    model.steps = answer
    domain = make_domain(stack, tools=[], middleware=[{"model_fallback": {"models": ["other"]}}])
    session_id = make_session(stack, domain["name"])
    stack.chat("who is there?", session_id)

    calls = check_all(stack, session_id, model.requests)

    assert [(call["model"], bool(call["failure"])) for call in calls] == [
        ("scripted", True),
        ("other", False),
    ]
    assert calls[0]["input_tokens"] is None


def test_a_call_that_was_stopped_is_kept(stack: Stack, model: ScriptedModel):
    turn = stack.submit(script({"text": "word " * 200, "delay": 0.05}))
    with stack.events(turn["session_id"]) as events:
        next(event for event in events if event["event"] == "text_delta")
    stop(stack, turn["turn_id"])
    stack.finished(turn["turn_id"])

    (call,) = check_all(stack, turn["session_id"], model.requests)

    assert call["failure"] == "Stopped"


def test_a_call_without_an_answer_is_kept_when_its_turn_fails(stack: Stack, model: ScriptedModel):
    turn = stack.submit(script({"status": 401, "text": "no such key"}))
    stack.finished(turn["turn_id"])

    (call,) = check_all(stack, turn["session_id"], model.requests)

    assert call["failure"] == "Model unavailable"


def test_the_call_for_a_title_is_kept(stack: Stack, model: ScriptedModel):
    model.title = {"text": "What was spent"}
    domain = make_domain(stack, tools=[], middleware=["title"])
    session_id = make_session(stack, domain["name"])
    stack.chat(script({"text": "a short answer"}), session_id)
    counted = lambda: len(calls_of(stack, session_id)) == 2  # noqa: E731

    assert stack.wait_for(counted, "the call for the title is not kept")

    calls = check_all(stack, session_id, [*model.requests, *model.title_requests])
    assert [call["purpose"] for call in calls] == ["answer", "title"]
    assert calls[1]["output_tokens"]


def test_calls_are_given_again_after_a_worker_was_killed(own_stack: Stack, model: ScriptedModel):
    stack = own_stack
    waits = {"is_slow": True}

    def answer(messages: list[JSON], body: JSON) -> JSON:
        if messages[-1]["role"] == "user":
            return {"text": "I look.", "tools": [{"name": "look", "args": {"at": "it"}}]}
        return {"text": LONG, "delay": 0.05 if waits["is_slow"] else 0}

    model.steps = answer
    with tool_domain(stack, lambda name, arguments: LONG, "look") as (domain, _):
        session_id = make_session(stack, domain["name"])
        turn = stack.submit("look at it", session_id)
        stack.wait_for(lambda: len(model.requests) == 2, "the answer does not begin")
        stack.wait_for(lambda: stack.turn(turn["turn_id"])["steps"] == 2, "not saved")
        stack.kill_workers()
        waits["is_slow"] = False
        stack.start_worker()
        assert stack.finished(turn["turn_id"])["status"] == "succeeded"

    # The second request was lost with its worker, and asked again, word for word.
    assert written(model.requests[1]) == written(model.requests[2])
    check_all(stack, session_id, [model.requests[0], model.requests[2]])


def test_calls_that_are_not_there_are_not_found(stack: Stack):
    session_id = stack.chat(script({"text": "fine"}))["session_id"]
    elsewhere = uuid4()

    check_problem(stack.client.get(f"/sessions/{session_id}/calls/999/1"), 404)
    check_problem(stack.client.get(f"/sessions/{session_id}/calls/2/9"), 404)
    check_problem(stack.client.get(f"/sessions/{session_id}/calls/0/1"), 422)
    check_problem(stack.client.get(f"/sessions/{elsewhere}/calls"), 404)
    check_problem(stack.client.get(f"/sessions/{elsewhere}/calls/2/1"), 404)
    check_problem(stack.client.get(f"/sessions/{elsewhere}/inspection"), 404)


def test_what_was_sent_goes_with_its_session(stack: Stack):
    session_id = stack.chat(script({"text": "fine"}))["session_id"]

    assert stack.client.delete(f"/sessions/{session_id}").status_code == 204

    left = "SELECT count(*) FROM sent_contents WHERE conversation_id = :id"
    assert stack.query(left, id=session_id) == [(0,)]


def _looks_then_answers(messages: list[JSON], body: JSON) -> JSON:
    if not body.get("tools"):
        return {"text": "So far the person asked what was spent, year by year."}
    if messages[-1]["role"] == "tool":
        return {"text": "That is what was spent."}
    return {"text": "I look.", "tools": [{"name": "look", "args": {"at": "it"}}]}
