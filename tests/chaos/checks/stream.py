"""What followers were told is what is stored: P14."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from backend.types import JSON
from tests.chaos.checks.effects import marker_of
from tests.chaos.staging.records import Followed, History

ENDS = "turn_finished"

# What may cost live events, but never rows.
LOSSY = ("flush-redis", "restart-redis", "blackhole", "reset", "latency", "kill-api", "freeze")


def stream_is_history(history: History) -> list[str]:
    """Each event once, each row in order and as stored, deltas equal to the stored text."""
    followers: dict[str, list[Followed]] = defaultdict(list)
    for event in history.followed:
        followers[event.follower].append(event)
    rows = {(row["conversation_id"], row["position"]): row for row in history.rows}
    stored = {row["id"]: row["content"].get("text") for row in history.rows}
    gone = {deleted.session_id for deleted in history.deleted}
    found = []
    for name, events in followers.items():
        found += [f"{name}: {fault}" for fault in _repeats(events)]
        if events[0].session_id not in gone:
            found += [f"{name}: {fault}" for fault in _strange_rows(events, rows)]
            found += [f"{name}: {fault}" for fault in _other_words(history, events, stored)]
    return [*found, *_never_said(history)]


def _repeats(events: list[Followed]) -> Iterable[str]:
    counts = Counter((event.id, event.event) for event in events)
    for (event_id, name), count in counts.items():
        if count > 1:
            yield f"got {name} {event_id} {count} times"
    ends = Counter(e.data["context"]["turn_id"] for e in events if e.event == ENDS)
    yield from (f"was told {n} times that turn {turn} ended" for turn, n in ends.items() if n > 1)


def _strange_rows(events: list[Followed], rows: dict[tuple[str, int], JSON]) -> Iterable[str]:
    told = [event.data["message"] for event in events if event.event == "message_added"]
    for one, other in pairwise(told):
        if other["position"] != one["position"] + 1:
            yield f"was told row {other['position']} after row {one['position']}"
    session_id = events[0].session_id
    for message in told:
        row = rows.get((session_id, message["position"]))
        if row is None or (row["id"], row["content"]) != (message["id"], message["content"]):
            yield f"was told a row {message['position']} that is not what is stored"


def _other_words(history: History, events: list[Followed], stored: JSON) -> Iterable[str]:
    """Deltas of a stored message that do not add up to it, where no wire could lose any."""
    said: dict[str, list[Followed]] = defaultdict(list)
    for event in events:
        if event.event in ("text_delta", "thinking_delta"):
            said[event.data["message_id"]].append(event)
    ended = {e.data["context"]["turn_id"]: e.at for e in events if e.event == ENDS}
    for message_id, deltas in said.items():
        end = ended.get(deltas[0].data["context"]["turn_id"])
        if message_id not in stored or end is None:
            continue
        if history.was_disturbed(LOSSY, deltas[0].at - 15, end):
            continue
        text = "".join(delta.data["text"] for delta in deltas)
        if text != stored[message_id]:
            yield f"heard {text!r} where {stored[message_id]!r} is stored"


def _never_said(history: History) -> Iterable[str]:
    """Stored answers that the model did not give."""
    said: dict[str, set[str]] = defaultdict(set)
    for one in history.said:
        said[one.marker].add(one.text)
    messages = {turn["id"]: turn["message"] for turn in history.turns}
    for row in history.rows:
        if (row["message_type"], row["content_type"]) != ("assistant", "text"):
            continue
        texts = said[marker_of(messages.get(row["turn_id"], ""))]
        text = row["content"]["text"]
        is_whole = row["status"] == "completed"
        if not (text in texts if is_whole else any(t.startswith(text.strip()) for t in texts)):
            yield f"row {row['position']} of {row['conversation_id']} was never said: {text[:60]!r}"
