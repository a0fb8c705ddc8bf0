"""Events tell a turn's whole story in order, as documented, and deltas are the stored texts."""

import httpx
import jsonschema

from backend.schemas.events import EVENTS
from backend.types import JSON
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.scenes import check_views, make_session, stop
from tests.integration.turns.events.following import (
    STEPS,
    added,
    follow_to_end,
    frozen,
    read_kept,
    said,
    until_end,
)
from tests.stack import Stack


def test_events_tell_the_whole_story_in_order(stack: Stack) -> None:
    session_id = make_session(stack)
    stack.chat("earlier", session_id)
    with stack.events(session_id) as events:
        turn = stack.submit(script(*STEPS), session_id)
        story = list(until_end(events, turn["turn_id"]))

    rows, _ = check_views(stack, session_id)
    names = [event["event"] for event in story]
    assert names[0] == "turn_queued"
    assert names[-1] == "turn_finished"
    assert names.index("turn_started") < names.index("thinking_delta") < names.index("text_delta")
    assert frozen(added(story)) == frozen(rows[2:])
    assert len({event["id"] for event in story}) == len(story)
    image_id = stack.client.get(f"/sessions/{session_id}").json()["image_id"]
    for event in story:
        context = event["data"]["context"]
        assert (context["session_id"], context["turn_id"]) == (session_id, turn["turn_id"])
        assert context["image_id"] == image_id
        assert set(context) == {"domain_id", "session_id", "image_id", "agent_id", "turn_id"}
    updated = [e["data"]["message"] for e in story if e["event"] == "message_updated"]
    assert [(row["content_type"], row["status"]) for row in updated] == [("tool_call", "completed")]
    assert story[-1]["data"]["turn"]["status"] == "succeeded"


def test_deltas_joined_are_the_stored_texts(stack: Stack) -> None:
    turn = stack.submit(script(*STEPS))

    story = follow_to_end(stack, turn["session_id"], turn["turn_id"])

    rows = stack.messages(turn["session_id"])
    for kind, content_type in (("text_delta", "text"), ("thinking_delta", "thinking")):
        stored = [
            row["content"]["text"]
            for row in rows
            if (row["message_type"], row["content_type"]) == ("assistant", content_type)
        ]
        assert list(said(story, kind).values()) == stored


def test_a_table_is_told_as_it_is_read(stack: Stack, model: ScriptedModel) -> None:
    query = {"source": "fi", "sql": "SELECT 1.5 AS amount"}
    model.steps = lambda messages, body: (
        {"text": "It is 1.5."}
        if messages[-1]["role"] == "tool"
        else {"tools": [{"name": "query_source", "args": query}]}
    )
    turn = stack.submit("How much is it?")

    story = follow_to_end(stack, turn["session_id"], turn["turn_id"])

    read = [row for row in stack.messages(turn["session_id"]) if "table" in row["metadata"]]
    told = [row for row in added(story) if "table" in row["metadata"]]
    assert frozen(told) == frozen(read)
    assert [row["metadata"]["table"]["columns"][0]["kind"] for row in told] == ["money"]


def said_in_the_end(events: list[JSON]) -> dict[str, str]:
    """What deltas gave under each id that no reset has taken back."""
    joined: dict[str, str] = {}
    for event in events:
        data = event["data"]
        if event["event"] in ("text_delta", "thinking_delta"):
            joined[data["message_id"]] = joined.get(data["message_id"], "") + data["text"]
        elif event["event"] == "reset":
            joined.pop(data["message_id"], None)
    return joined


def spoken(rows: list[JSON]) -> dict[str, str]:
    """The texts and thoughts of the agent, by the ids of their display messages."""
    kinds = ("text", "thinking")
    own = [row for row in rows if row["message_type"] == "assistant"]
    return {row["id"]: row["content"]["text"] for row in own if row["content_type"] in kinds}


def test_deltas_name_the_display_message_that_they_become(stack: Stack) -> None:
    turn = stack.submit(script(*STEPS))

    story = follow_to_end(stack, turn["session_id"], turn["turn_id"])

    rows = stack.messages(turn["session_id"])
    assert said_in_the_end(story) == spoken(rows) == spoken(added(story))
    assert [row["content_type"] for row in rows if row["id"] in spoken(rows)] == [
        "thinking",
        "text",
        "text",
    ]


def broken_once(model: ScriptedModel) -> None:
    """Let the model's first answer break off after some words; it is asked again."""
    answers = iter([{"think": "I wonder", "text": "Half of an answer", "cut": True}, *STEPS])
    model.steps = lambda *_: next(answers)


def test_events_are_as_they_are_documented(stack: Stack, model: ScriptedModel) -> None:
    broken_once(model)
    document = httpx.get(f"{stack.base_url}/api/openapi.json", timeout=30).json()
    answer = document["paths"]["/api/v1/sessions/{session_id}/events"]["get"]["responses"]["200"]
    items = answer["content"]["text/event-stream"]["x-itemSchema"]["oneOf"]
    bodies = {
        item["properties"]["event"]["const"]: item["properties"]["data"]["contentSchema"]
        for item in items
    }
    turn = stack.submit("ask")

    story = follow_to_end(stack, turn["session_id"], turn["turn_id"])

    assert bodies.keys() == set(EVENTS)
    assert {"reset", "progress", "message_updated"} <= {event["event"] for event in story}
    for event in story:
        schema = {**bodies[event["event"]], "components": document["components"]}
        jsonschema.validate(event["data"], schema)


def test_an_answer_that_is_asked_for_again_has_other_names(
    stack: Stack, model: ScriptedModel
) -> None:
    broken_once(model)
    turn = stack.submit("ask")

    story = follow_to_end(stack, turn["session_id"], turn["turn_id"])

    taken_back = [e["data"]["message_id"] for e in story if e["event"] == "reset"]
    deltas = {**said(story, "thinking_delta"), **said(story, "text_delta")}
    rows = stack.messages(turn["session_id"])
    assert [deltas[name] for name in taken_back] == ["I wonder", "Half of an answer"]
    assert said_in_the_end(story) == spoken(rows)
    assert not spoken(rows).keys() & set(taken_back)


def test_deltas_of_a_stopped_answer_are_its_stored_text(stack: Stack) -> None:
    turn = stack.submit(script({"text": "word " * 400, "delay": 0.03}))
    session_id = turn["session_id"]
    story: list[JSON] = []
    with stack.events(session_id) as events:
        for event in until_end(events, turn["turn_id"]):
            story.append(event)
            if len(said(story, "text_delta")) and len(story) == 12:
                stop(stack, turn["turn_id"])

    partial = [row for row in stack.messages(session_id) if row["message_type"] == "assistant"]
    assert said(story, "text_delta") == spoken(partial)


def test_a_waiting_message_is_told_when_its_turn_starts(stack: Stack) -> None:
    first = stack.submit(script(ENDLESS))
    session_id = first["session_id"]
    second = stack.submit("second", session_id)
    stop(stack, first["turn_id"])

    story = read_kept(stack, session_id, second["turn_id"], after="0")

    of_second = [e for e in story if e["data"]["context"]["turn_id"] == second["turn_id"]]
    assert [e["event"] for e in of_second][:3] == ["turn_queued", "turn_started", "message_added"]
    assert of_second[0]["data"]["turn"]["queue_position"] == 1
    assert frozen(added(story)) == frozen(stack.messages(session_id))


def test_a_stream_says_that_it_must_not_be_stored(stack: Stack) -> None:
    session_id = make_session(stack)
    with stack.client.stream("GET", f"/sessions/{session_id}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
