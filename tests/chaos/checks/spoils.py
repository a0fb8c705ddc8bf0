"""Ways of spoiling a good history, each with the promise that it breaks and the words for it."""

from collections.abc import Callable
from dataclasses import replace

from tests.chaos.staging.made_up import BEGIN, KEY, SESSION, TURN, rows, stopped, turn
from tests.chaos.staging.records import Answered, Deleted, Disturbed, History, Note, Ran, Said

Spoil = Callable[[History], None]
SPOILS: list[tuple[str, str, Spoil]] = []


def spoil(promise: str, words: str) -> Callable[[Spoil], Spoil]:
    """Say which promise this way of spoiling a history breaks, and in what words."""

    def keep(function: Spoil) -> Spoil:
        SPOILS.append((promise, words, function))
        return function

    return keep


@spoil("P1", "is gone")
def lose_a_turn(history: History) -> None:
    history.turns.clear()
    history.rows.clear()


@spoil("P1", "another text")
def change_a_text(history: History) -> None:
    history.turns[0]["message"] = "turn m1"


@spoil("P1", "is shown")
def lose_the_message(history: History) -> None:
    history.rows.pop(0)


@spoil("P2", "was told 2 turns")
def answer_a_key_twice(history: History) -> None:
    told = history.submitted[0]
    history.submitted.append(replace(told, turn_id="turn-2"))


@spoil("P2", "has 2 turns")
def store_a_key_twice(history: History) -> None:
    history.turns.append(turn("succeeded", id="turn-2"))


@spoil("P3", "went back")
def write_with_an_old_attempt(history: History) -> None:
    note(history, "turns", "UPDATE", turn("running", attempt=2, steps=3), before_end=True)
    note(history, "turns", "UPDATE", turn("running", attempt=1, steps=3), before_end=True)


@spoil("P3", "from succeeded to running")
def rise_from_the_dead(history: History) -> None:
    note(history, "turns", "UPDATE", turn("running", attempt=2, steps=3))


@spoil("P3", "without its turn")
def write_unfenced(history: History) -> None:
    note(history, "agent_state_deltas", "INSERT", delta(5))


@spoil("P4", "ran at once")
def run_two_turns(history: History) -> None:
    other = turn("running", id="turn-2", number=2)
    note(history, "turns", "UPDATE", other, before_end=True)


@spoil("P4", "ran before")
def overtake(history: History) -> None:
    note(history, "turns", "INSERT", turn("queued", id="turn-0", number=0), before_end=True)
    note(history, "turns", "UPDATE", turn("running", steps=3), before_end=True)


@spoil("P5", "is still running")
def never_end(history: History) -> None:
    history.turns[0]["status"] = "running"


@spoil("P6", "without its state")
def write_half_a_step(history: History) -> None:
    history.notes = [one for one in history.notes if one.row.get("version") != 4]


@spoil("P7", "not to 5")
def leave_a_gap(history: History) -> None:
    note(history, "turns", "UPDATE", turn("succeeded", steps=3))
    note(history, "agent_state_deltas", "INSERT", delta(6))


@spoil("P7", "not to 5")
def fork(history: History) -> None:
    note(history, "turns", "UPDATE", turn("succeeded", steps=3))
    note(history, "agent_state_deltas", "INSERT", delta(4))


@spoil("P8", "another content")
def change_what_was_shown(history: History) -> None:
    history.rows[4]["content"] = {"text": "m1 0: Looking."}


@spoil("P8", "was shown and is gone")
def take_back_a_row(history: History) -> None:
    history.rows.pop()


@spoil("P8", "was deleted")
def delete_a_row(history: History) -> None:
    note(history, "display_messages", "DELETE", rows()[4])


@spoil("P9", "positions of")
def leave_out_a_position(history: History) -> None:
    history.rows[4]["position"] = 6


@spoil("P9", "are mixed")
def mix_turns(history: History) -> None:
    history.turns.append(turn("succeeded", id="turn-0", number=0, idempotency_key="key-0"))
    history.rows[4]["turn_id"] = "turn-0"


@spoil("P9", "for ever")
def leave_a_call_open(history: History) -> None:
    history.rows[2]["status"] = "executing"


@spoil("P10", "calls without a result")
def leave_a_call_dangling(history: History) -> None:
    history.notes = [one for one in history.notes if one.row.get("version") not in (3, 4)]


@spoil("P10", "a result for no call")
def answer_nobody(history: History) -> None:
    history.notes = [one for one in history.notes if one.row.get("version") != 2]


@spoil("P11", "ran 2 times")
def act_twice(history: History) -> None:
    history.ran.append(Ran(BEGIN + 3, "act", KEY))


@spoil("P11", "after its result was kept")
def look_again(history: History, name: str = "look") -> None:
    history.ran = [Ran(BEGIN + at, name, KEY) for at in (3, 4)]


@spoil("P11", "never ran")
def make_up_a_result(history: History) -> None:
    history.ran.clear()


@spoil("P12", "ran for")
def run_half_a_call(history: History) -> None:
    history.ran.append(Ran(BEGIN + 3, "act", "never-"))


@spoil("P13", "after the stop")
def act_after_a_stop(history: History) -> None:
    history.stopped.append(stopped(1.5))


@spoil("P13", "after the stop")
def ask_after_a_stop(history: History) -> None:
    history.stopped.append(stopped(3.5))
    history.said.append(Said(BEGIN + 4.9, "m1", "more"))


@spoil("P13", "s after its stop")
def end_late(history: History) -> None:
    history.stopped.append(stopped(4.5))
    history.turns[0]["finished_at"] = "2026-01-01T00:00:11+00:00"


@spoil("P14", "2 times")
def tell_twice(history: History) -> None:
    history.followed.append(history.followed[1])


@spoil("P14", "after row")
def leave_out_an_event(history: History) -> None:
    history.followed.pop(4)


@spoil("P14", "is stored")
def lose_a_delta(history: History) -> None:
    history.followed.pop(1)


@spoil("P14", "not what is stored")
def tell_something_else(history: History) -> None:
    added = history.followed[3]
    other = {**added.data, "message": {**rows()[1], "content": {"text": "other"}}}
    history.followed[3] = replace(added, data=other)


@spoil("P14", "never said")
def store_what_nobody_said(history: History) -> None:
    history.said.pop()


@spoil("P16", "without Retry-After")
def refuse_without_a_time(history: History) -> None:
    history.answered.append(Answered(BEGIN, "GET", "/sessions", 503, 0.1))


@spoil("P16", "only after")
def refuse_late(history: History) -> None:
    history.answered.append(Answered(BEGIN, "GET", "/sessions", 503, 30.0, "2"))


@spoil("P16", "got 500")
def fail(history: History) -> None:
    history.answered.append(Answered(BEGIN, "GET", "/sessions", 500, 0.1, None, "oops"))


@spoil("P17", "a lost turn waited")
def recover_late(history: History) -> None:
    history.disturbed.append(Disturbed("kill-worker", "0", BEGIN + 2, BEGIN + 2, ("77",)))
    again = turn("running", attempt=2)
    history.notes.insert(5, Note(90, BEGIN + 11, 90, "turns", "UPDATE", again))
    history.notes = [one for one in history.notes if one.row.get("status") != "succeeded"]
    history.notes.sort(key=lambda one: one.at)


@spoil("P18", "lost 4 workers")
def try_for_ever(history: History) -> None:
    history.turns[0]["losses_in_row"] = 4


@spoil("P18", "without a reason")
def fail_silently(history: History) -> None:
    history.turns[0]["status"] = "failed"


@spoil("P19", "429 without")
def push_back_without_a_time(history: History) -> None:
    history.answered.append(Answered(BEGIN, "POST", "/chat", 429, 0.1))


@spoil("P20", "cannot be opened")
def brick_a_session(history: History) -> None:
    history.unopened.append(SESSION)


@spoil("P21", "was decided and then decided")
def decide_twice(history: History) -> None:
    for kind in ("approve", "reject"):
        note(history, "approvals", "UPDATE", approval("decided", kind))


@spoil("P21", "was not approved")
def run_what_was_rejected(history: History) -> None:
    note(history, "approvals", "UPDATE", approval("decided", "reject"))
    history.ran.append(Ran(BEGIN + 6, "pay", KEY))


@spoil("P25", "has rows again")
def write_after_a_deletion(history: History) -> None:
    history.deleted.append(Deleted(BEGIN + 9, SESSION))


def note(history: History, table: str, op: str, changed: dict, before_end: bool = False) -> None:
    """Add a change in a transaction of its own."""
    number = 100 + len(history.notes)
    place = len(history.notes) - before_end
    history.notes.insert(place, Note(number, BEGIN + 4.95, number, table, op, changed))


def approval(status: str, kind: str) -> dict:
    """An approval's row."""
    asked = {"id": "approval-1", "turn_id": TURN, "arguments": {"key": KEY}}
    return {**asked, "status": status, "decision": {"type": kind}}


def delta(version: int) -> dict:
    said = {"role": "user", "id": f"u{version}", "content": "more"}
    return {"conversation_id": SESSION, "version": version, "delta": {"append": [said]}}
