"""Events: each once and in order, over reconnects, two viewers and a Redis that forgot."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx
import jsonschema
import pytest
import redis

from backend.schemas.events import EVENTS
from backend.types import JSON
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import Gate, check_views, make_session, stop, tool_domain
from tests.stack import Stack, read_events

STEPS = (
    {"think": "I wonder how", "text": "Let me look 🙂.", "tools": [{"name": "list_sources"}]},
    {"text": "Here is a longer answer in several words. " * 5, "delay": 0.01},
)


def follow_to_end(stack: Stack, session_id: str, turn_id: str, **headers: str) -> list[JSON]:
    """All events until the turn's end."""
    with stack.events(session_id, **headers) as events:
        return list(until_end(events, turn_id))


def until_end(events: Iterator[JSON], turn_id: str) -> Iterator[JSON]:
    for event in events:
        yield event
        if event["event"] == "turn_finished" and event["data"]["context"]["turn_id"] == turn_id:
            return


def read_kept(stack: Stack, session_id: str, turn_id: str, after: str) -> list[JSON]:
    """What a viewer gets who comes later with `after`, until the turn's end."""
    url = f"/sessions/{session_id}/events"
    with stack.client.stream("GET", url, params={"after": after}, timeout=30) as response:
        return list(until_end(read_events(response.iter_lines()), turn_id))


def said(events: list[JSON], kind: str) -> dict[str, str]:
    """The deltas joined, by message."""
    joined: dict[str, str] = {}
    for event in events:
        if event["event"] == kind:
            message_id = event["data"]["message_id"]
            joined[message_id] = joined.get(message_id, "") + event["data"]["text"]
    return joined


def added(events: list[JSON]) -> list[JSON]:
    return [event["data"]["message"] for event in events if event["event"] == "message_added"]


def others(events: list[JSON]) -> list[Any]:
    """What is told only by the stream; a stored row may also be told from the table, sooner."""
    return [
        (event["event"], event["data"]) for event in events if event["event"] != "message_added"
    ]


def frozen(rows: list[JSON]) -> list[Any]:
    """What of display messages never changes."""
    return [(row["id"], row["position"], row["content"]) for row in rows]


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
    items = answer["content"]["text/event-stream"]["itemSchema"]["oneOf"]
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


def test_resuming_at_any_event_gives_exactly_the_rest(stack: Stack) -> None:
    turn = stack.submit(script(*STEPS))
    session_id, turn_id = turn["session_id"], turn["turn_id"]
    whole = follow_to_end(stack, session_id, turn_id)

    for place in range(0, len(whole) - 1, 3):
        resumed = follow_to_end(stack, session_id, turn_id, **{"Last-Event-ID": whole[place]["id"]})
        assert resumed == whole[place + 1 :]


def test_dropping_the_connection_again_and_again_loses_and_repeats_nothing(stack: Stack) -> None:
    gate = Gate()
    with tool_domain(stack, gate.answer, "one") as (domain, _):
        session_id = make_session(stack, domain["name"])
        steps = ({"text": "word " * 60, "delay": 0.02, "tools": [{"name": "one"}]}, STEPS[1])
        with stack.events(session_id) as events, ThreadPoolExecutor(1) as pool:
            turn = stack.submit(script(*steps), session_id)
            uninterrupted = pool.submit(lambda: list(until_end(events, turn["turn_id"])))
            pieces: list[JSON] = []
            headers: dict[str, str] = {"Last-Event-ID": "0"}
            while not pieces or pieces[-1]["event"] != "turn_finished":
                with stack.events(session_id, **headers) as interrupted:
                    for _, event in zip(range(5), interrupted, strict=False):
                        pieces.append(event)
                        headers = {"Last-Event-ID": event["id"]}
                        if event["event"] == "turn_finished":
                            break
                        gate.is_open = gate.is_open or event["event"] == "message_added"
            whole = uninterrupted.result(timeout=30)

    assert others(pieces) == others(whole)
    assert frozen(added(pieces)) == frozen(added(whole)) == frozen(stack.messages(session_id))


def test_all_that_is_kept_begins_with_the_first_turn(stack: Stack) -> None:
    session_id = stack.chat("one")["session_id"]
    last = stack.chat("two", session_id)

    story = read_kept(stack, session_id, last["turn_id"], after="0")

    assert [e["event"] for e in story].count("turn_finished") == 2
    assert frozen(added(story)) == frozen(stack.messages(session_id))


def test_without_a_place_the_story_begins_with_the_active_turn(stack: Stack) -> None:
    session_id = stack.chat("an earlier turn")["session_id"]
    turn = stack.submit(script({"text": "word " * 30, "delay": 0.05}), session_id)
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["status"] == "running", "does not start")

    story = follow_to_end(stack, session_id, turn["turn_id"])

    assert {event["data"]["context"]["turn_id"] for event in story} == {turn["turn_id"]}
    assert frozen(added(story)) == frozen(stack.messages(session_id)[2:])
    assert list(said(story, "text_delta").values()) == ["word " * 30]


def test_many_viewers_see_the_same(stack: Stack) -> None:
    session_id = make_session(stack)
    opened, submitted = threading.Barrier(9), threading.Event()

    def view(_: int) -> list[JSON]:
        with stack.events(session_id) as events:
            opened.wait(timeout=20)
            submitted.wait(timeout=20)
            return list(until_end(events, turn["turn_id"])) if turn else []

    turn: JSON = {}
    with ThreadPoolExecutor(8) as pool:
        viewers = [pool.submit(view, number) for number in range(8)]
        opened.wait(timeout=20)
        turn.update(stack.submit(script({"wait": 0.5, **STEPS[1]}), session_id))
        submitted.set()
        stories = [viewer.result(timeout=30) for viewer in viewers]

    rows = stack.messages(session_id)
    for story in stories:
        assert others(story)[-1][0] == "turn_finished"
        assert others(story) == others(stories[0])
        assert frozen(added(story)) == frozen(rows)
        assert list(said(story, "text_delta").values()) == [STEPS[1]["text"]]


def test_a_waiting_message_is_told_when_its_turn_starts(stack: Stack) -> None:
    first = stack.submit(script({"text": "word " * 20, "delay": 0.05}))
    session_id = first["session_id"]
    second = stack.submit("second", session_id)

    story = read_kept(stack, session_id, second["turn_id"], after="0")

    of_second = [e for e in story if e["data"]["context"]["turn_id"] == second["turn_id"]]
    assert [e["event"] for e in of_second][:3] == ["turn_queued", "turn_started", "message_added"]
    assert of_second[0]["data"]["turn"]["queue_position"] == 1
    assert frozen(added(story)) == frozen(stack.messages(session_id))


@pytest.mark.parametrize("when", ["while the model speaks", "after the end"])
def test_a_viewer_resumes_though_redis_forgot_everything(stack: Stack, when: str) -> None:
    gate = Gate()
    with tool_domain(stack, gate.answer, "one") as (domain, server):
        session_id = make_session(stack, domain["name"])
        turn = stack.submit(script({"tools": [{"name": "one"}]}, STEPS[1]), session_id)
        stack.wait_for(lambda: server.calls, "the tool is not called")
        with stack.events(session_id) as events:
            first = next(event for event in events if event["event"] == "message_added")
        if when == "after the end":
            gate.is_open = True
            stack.finished(turn["turn_id"])
        flush(stack)
        gate.is_open = True

        rest = follow_to_end(stack, session_id, turn["turn_id"], **{"Last-Event-ID": first["id"]})

        rows, _ = check_views(stack, session_id)
        assert frozen(added(rest)) == frozen(rows[1:])
        assert [e["event"] for e in rest].count("turn_finished") == 1
        assert rest[-1]["data"]["turn"]["status"] == "succeeded"


def test_an_open_stream_goes_on_though_redis_forgot_everything(stack: Stack) -> None:
    session_id = make_session(stack)
    with stack.events(session_id) as events:
        turn = stack.submit(script({"text": "word " * 40, "delay": 0.03}, *STEPS), session_id)
        story: list[JSON] = []
        for event in until_end(events, turn["turn_id"]):
            story.append(event)
            if len(story) in (4, 8):
                flush(stack)

    assert frozen(added(story)) == frozen(stack.messages(session_id))
    assert [event["event"] for event in story].count("turn_finished") == 1
    assert list(said(story, "text_delta").values()) == ["word " * 40]


@pytest.mark.parametrize("lost", [{1}, {2, 3}, {4, 6}, {6}, set(range(7))])
def test_rows_whose_events_were_lost_come_from_the_table(stack: Stack, lost: set[int]) -> None:
    turn = stack.submit(script(*STEPS))
    session_id, turn_id = turn["session_id"], turn["turn_id"]
    stack.finished(turn_id)
    whole = read_kept(stack, session_id, turn_id, after="0")
    lose_events(stack, session_id, lambda data: data.get("message", {}).get("position") in lost)

    story = read_kept(stack, session_id, turn_id, after="0")

    assert frozen(added(story)) == frozen(added(whole)) == frozen(stack.messages(session_id))
    updated = [e for e in others(whole) if e[0] != "message_updated"]
    assert [e for e in others(story) if e[0] != "message_updated"] == updated
    assert all(event["data"]["context"] == whole[0]["data"]["context"] for event in story)


def test_a_stream_says_that_it_must_not_be_stored(stack: Stack) -> None:
    session_id = make_session(stack)
    with stack.client.stream("GET", f"/sessions/{session_id}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"


def lose_events(stack: Stack, session_id: str, is_lost: Callable[[JSON], bool]) -> None:
    """Drop kept events, as a Redis does that was killed before it wrote them."""
    with closing(redis.Redis.from_url(stack.redis_url)) as client:
        key = f"colloquy:events:{session_id}"
        for event_id, fields in client.xrange(key):
            if is_lost(json.loads(fields[b"e"])["data"]):
                client.xdel(key, event_id)


def flush(stack: Stack) -> None:
    with closing(redis.Redis.from_url(stack.redis_url)) as client:
        client.flushall()
