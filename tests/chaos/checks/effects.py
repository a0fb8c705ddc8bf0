"""What models and tools were asked to do: P11, P12, P13."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from backend.types import JSON
from tests.chaos.staging.model import MARKER, NEVER
from tests.chaos.staging.records import History, Stopped

KEY = re.compile(r"[\w-]+/\d+/\d+/\d+")
DONE = re.compile(r"done ([\w-]+/\d+/\d+/\d+)")
QUIET_SECONDS, END_SECONDS = 1.0, 5.0

ACTING = ("act", "pay")

# What keeps a worker from hearing of a stop, or from running at all.
DEAFENING = (
    "freeze", "restart-postgres", "cut-backends", "blackhole worker", "latency worker",
    "reset worker", "blackhole client",
)  # fmt: skip


def recorded_steps_run_once(history: History) -> list[str]:
    """A tool that acts runs at most once for a call; others never after their result is kept.

    But for those that may: a worker that froze with half a call on the wire sends the rest of it
    when it is back from the dead, with the same idempotency key, before it is told.
    """
    counts = Counter((ran.name, ran.key) for ran in history.ran)
    found = [
        f"{name} {key} ran {count} times"
        for (name, key), count in counts.items()
        if name in ACTING and count > 1
    ]
    recorded: dict[str, float] = {}
    for key, at in _recorded(history):
        recorded[key] = min(at, recorded.get(key, at))
    for ran in history.ran:
        kept = recorded.get(ran.key, ran.started)
        is_harmless = ran.name not in ACTING and history.was_disturbed(
            ("freeze",), kept, ran.started
        )
        if ran.started > kept and not is_harmless:
            late = ran.started - kept
            found.append(f"{ran.name} {ran.key} ran again {late:.3f} s after its result was kept")
    ran_keys = {ran.key for ran in history.ran}
    return found + [f"{key} has a result and never ran" for key in _claimed(history) - ran_keys]


def _recorded(history: History) -> Iterator[tuple[str, float]]:
    """Keys whose result was committed, and when; from the journal, and from the history."""
    for note in history.notes:
        row = note.row
        is_result = note.table == "tool_journal" and row["finished_at"] and note.op != "DELETE"
        if is_result and (key := KEY.search(str(row["result"]))):
            yield key[0], note.at
    for row in history.rows:
        is_result = row["content_type"] == "tool_result"
        if is_result and (key := DONE.search(str(row["content"]["content"]))):
            yield key[1], seconds_of(row["created_at"])


def _claimed(history: History) -> set[str]:
    rows = [row for row in history.rows if row["content_type"] == "tool_result"]
    found = [DONE.search(str(row["content"]["content"])) for row in rows]
    return {match[1] for match in found if match}


def only_complete_calls_run(history: History) -> list[str]:
    """Calls whose message broke off, or whose arguments are not valid, are never run."""
    return [f"{ran.name} ran for {ran.key!r}" for ran in history.ran if ran.key.startswith(NEVER)]


def stop_means_stop(history: History) -> list[str]:
    """After a stop was accepted, nothing new begins, and the turn ends soon."""
    turns = {turn["id"]: turn for turn in history.turns}
    found = []
    for stop in _first_stops(history):
        turn = turns.get(stop.turn_id)
        if turn is None:
            continue
        found += _late_calls(history, stop, turn)
        ended = seconds_of(turn["finished_at"]) if turn["finished_at"] else history.ended_at
        calm = not history.was_disturbed(("",), stop.at - 2, ended)
        if calm and ended - stop.at > END_SECONDS:
            found.append(f"turn {stop.turn_id} ended {ended - stop.at:.1f} s after its stop")
    return found


def _first_stops(history: History) -> list[Stopped]:
    first: dict[str, Stopped] = {}
    for stop in sorted(history.stopped, key=lambda stop: stop.at):
        first.setdefault(stop.turn_id, stop)
    return list(first.values())


def _late_calls(history: History, stop: Stopped, turn: JSON) -> list[str]:
    marker = marker_of(turn["message"])
    end = _tried_again(history, turn)
    calls = [(said.at, "the model was asked") for said in history.said if said.marker == marker]
    calls += [
        (ran.started, f"{ran.name} ran") for ran in history.ran if ran.key.startswith(f"{marker}/")
    ]
    return [
        f"{what} {at - stop.at:.1f} s after the stop of turn {stop.turn_id}"
        for at, what in calls
        if stop.at + QUIET_SECONDS < at < end and not history.was_disturbed(DEAFENING, stop.at, at)
    ]


def _tried_again(history: History, turn: JSON) -> float:
    """When the same message was tried again by another turn, if it was."""
    times = [
        seconds_of(other["created_at"])
        for other in history.turns
        if other["message"] == turn["message"] and other["number"] > turn["number"]
    ]
    return min(times, default=float("inf"))


def marker_of(text: str) -> str:
    """The marker in a message's text."""
    found = MARKER.search(text)
    return found[1] if found else ""


def seconds_of(time: str) -> float:
    """A time as PostgreSQL writes it in JSON, in seconds since the epoch."""
    return datetime.fromisoformat(time).timestamp()
