"""Each event comes once, over reconnects, to many viewers and from a Redis that forgot."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import redis

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import Gate, check_views, make_session, tool_domain
from tests.integration.turns.events.following import (
    STEPS,
    added,
    follow_to_end,
    frozen,
    others,
    read_kept,
    said,
    until_end,
)
from tests.stack import Stack


def test_resuming_at_any_event_gives_exactly_the_rest(stack: Stack) -> None:
    turn = stack.submit(script(*STEPS))
    session_id, turn_id = turn["session_id"], turn["turn_id"]
    whole = follow_to_end(stack, session_id, turn_id)

    for place in range(0, len(whole) - 1, 3):
        resumed = follow_to_end(stack, session_id, turn_id, **{"Last-Event-ID": whole[place]["id"]})
        assert resumed == whole[place + 1 :]


def test_a_proxy_is_told_to_pass_each_event_on_at_once(stack: Stack) -> None:
    path = f"/sessions/{make_session(stack)}/events"

    with stack.client.stream("GET", path) as answer:
        assert answer.headers["X-Accel-Buffering"] == "no"


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
    turn = stack.submit(script({"text": "word " * 80, "delay": 0.05}), session_id)
    stack.wait_for(lambda: stack.turn(turn["turn_id"])["status"] == "running", "does not start")

    story = follow_to_end(stack, session_id, turn["turn_id"])

    assert {event["data"]["context"]["turn_id"] for event in story} == {turn["turn_id"]}
    assert frozen(added(story)) == frozen(stack.messages(session_id)[2:])
    assert list(said(story, "text_delta").values()) == ["word " * 80]


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
