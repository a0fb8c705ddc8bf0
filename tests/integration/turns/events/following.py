"""Following a session's events, and what they add up to."""

from collections.abc import Iterator
from typing import Any

from backend.types import JSON
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
