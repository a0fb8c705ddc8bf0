"""A small, good history that was made up, for tests that spoil it."""

from typing import Any

from backend.types import JSON
from tests.chaos.staging.records import (
    Answered,
    Followed,
    History,
    Note,
    PageRead,
    Ran,
    Said,
    Stopped,
    Submitted,
)  # fmt: skip

SESSION, TURN, WORKER = "session-1", "turn-1", "host.77.abc"
TEXT, ANSWER, KEY = "turn m1 please", "m1 1: Done. end of m1", "m1/0/0/1"
TIMES = "2026-01-01T00:00:{:02d}+00:00"
BEGIN = 1767225600.0  # TIMES.format(0)


def good_history() -> History:
    """One turn: a person asks, the model calls `act`, the tool runs, the model answers."""
    history = History(ended_at=BEGIN + 60)
    history.submitted = [Submitted(BEGIN + 1, "key-1", TEXT, TURN, SESSION)]
    history.answered = [Answered(BEGIN + 1, "POST", "/chat", 202, 0.1)]
    history.said = [
        Said(BEGIN + 2, "m1", "m1 0: Looking.", (KEY,)),
        Said(BEGIN + 4, "m1", ANSWER),
    ]
    history.ran = [Ran(BEGIN + 3, "act", KEY, BEGIN + 3.1)]
    history.turns = [turn("succeeded", steps=3)]
    history.rows = rows()
    history.pages = [PageRead(BEGIN + 9, SESSION, tuple(rows()))]
    history.followed = followed()
    history.notes = notes()
    return history


def turn(status: str, **changes: Any) -> JSON:
    """The turn's row."""
    finished = None if status == "running" else TIMES.format(5)
    return {
        "id": TURN, "number": 1, "conversation_id": SESSION, "message": TEXT, "status": status,
        "attempt": 1, "losses": 0, "losses_in_row": 0, "steps": 0, "worker": WORKER, "error": None,
        "message_position": 1, "idempotency_key": "key-1", "stop_requested": False,
        "lease_until": None, "decided_at": None, "created_at": TIMES.format(1),
        "finished_at": finished,
        **changes,
    }  # fmt: skip


def row(position: int, speaker: str, kind: str, content: JSON, **changes: Any) -> JSON:
    """A display message's row."""
    return {
        "id": f"row-{position}", "conversation_id": SESSION, "turn_id": TURN,
        "position": position, "message_type": speaker, "content_type": kind, "content": content,
        "status": "completed", "created_at": TIMES.format(3 if position < 5 else 5), **changes,
    }  # fmt: skip


def rows() -> list[JSON]:
    """What people see of the turn."""
    result = {"tool_call_id": "call_1", "name": "act", "content": f"done {KEY}", "is_error": False}
    call = {"call_id": "call_1", "name": "act", "arguments": {"key": KEY}}
    return [
        row(1, "user", "text", {"text": TEXT}),
        row(2, "assistant", "text", {"text": "m1 0: Looking."}),
        row(3, "assistant", "tool_call", call),
        row(4, "tool", "tool_result", result, created_at=TIMES.format(4)),
        row(5, "assistant", "text", {"text": ANSWER}),
    ]


def followed() -> list[Followed]:
    """What a follower was told of it."""
    context = {"turn_id": TURN, "session_id": SESSION}
    told: list[tuple[str, JSON]] = [("message_added", {"message": rows()[0]})]
    said = {"message_id": rows()[1]["id"]}
    told += [("text_delta", {**said, "text": text}) for text in ("m1 0: ", "Looking.")]
    told += [("message_added", {"message": one}) for one in rows()[1:]]
    told += [("turn_finished", {"turn": turn("succeeded")})]
    return [
        Followed(BEGIN + 2, "f", 1, SESSION, f"{n}-0.{n}", name, {"context": context, **data})
        for n, (name, data) in enumerate(told)
    ]


def notes() -> list[Note]:
    """What the database noted of it, in four transactions and the ones that open and end it."""
    user = {"role": "user", "id": "u1", "content": TEXT}
    call = {"id": "call_1", "function": {"name": "act", "arguments": "{}"}}
    asks = {"role": "assistant", "id": "a1", "content": "m1 0: Looking.", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": f"done {KEY}"}
    answer = {"role": "assistant", "id": "a2", "content": ANSWER}
    shown = rows()
    changes: list[tuple[int, float, str, str, JSON]] = [
        (1, 1, "agent_state_snapshots", "INSERT", _state(0, state_data={"messages": []})),
        (1, 1, "display_messages", "INSERT", shown[0]),
        (1, 1, "agent_state_deltas", "INSERT", _state(1, delta={"append": [user]})),
        (1, 1, "turns", "INSERT", turn("queued", attempt=0, worker=None)),
        (2, 1.5, "turns", "UPDATE", turn("running")),
        (3, 2.5, "display_messages", "INSERT", shown[1]),
        (3, 2.5, "display_messages", "INSERT", {**shown[2], "status": "executing"}),
        (3, 2.5, "turns", "UPDATE", turn("running", steps=1)),
        (3, 2.5, "agent_state_deltas", "INSERT", _state(2, delta={"append": [asks]})),
        (4, 2.9, "tool_journal", "INSERT", _journal(None)),
        (5, 3.2, "tool_journal", "UPDATE", _journal(f"done {KEY}")),
        (6, 3.9, "display_messages", "INSERT", shown[3]),
        (6, 3.9, "turns", "UPDATE", turn("running", steps=2)),
        (6, 3.9, "agent_state_deltas", "INSERT", _state(3, delta={"append": [result]})),
        (7, 4.9, "display_messages", "INSERT", shown[4]),
        (7, 4.9, "turns", "UPDATE", turn("running", steps=3)),
        (7, 4.9, "agent_state_deltas", "INSERT", _state(4, delta={"append": [answer]})),
        (8, 5, "turns", "UPDATE", turn("succeeded", steps=3)),
    ]
    return [
        Note(n, BEGIN + at, tx, table, op, changed)
        for n, (tx, at, table, op, changed) in enumerate(changes)
    ]


def _state(version: int, **data: Any) -> JSON:
    return {"conversation_id": SESSION, "version": version, **data}


def _journal(result: str | None) -> JSON:
    finished = TIMES.format(3) if result else None
    kept = {"message": {"content": result}} if result else None
    return {
        "turn_id": TURN, "message_id": "a1", "number": 0, "attempt": 1, "name": "act",
        "effect": "acts", "result": kept, "finished_at": finished,
    }  # fmt: skip


def stopped(at: float) -> Stopped:
    """A stop of the turn, so many seconds after the beginning."""
    return Stopped(BEGIN + at, TURN)
