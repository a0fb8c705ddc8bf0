"""What was accepted is there, once; what was refused says why: P1, P2, P16, P19, P20, P25."""

from collections import defaultdict

from colloquy_kit.messages.clean import clean_text
from tests.chaos.staging.records import History

FAST_SECONDS = 8.0


def accepted_is_durable(history: History) -> list[str]:
    """Every id that a client got exists, with its text, and its message is shown once."""
    turns = {turn["id"]: turn for turn in history.turns}
    shown: dict[str, list[str]] = defaultdict(list)
    for row in history.rows:
        if row["message_type"] == "user":
            shown[row["turn_id"]].append(row["content"]["text"])
    gone = {deleted.session_id for deleted in history.deleted}
    found = []
    for told in history.submitted:
        turn = turns.get(told.turn_id)
        if told.session_id in gone:
            continue
        if turn is None:
            found.append(f"turn {told.turn_id} was accepted and is gone")
        elif turn["message"] != clean_text(told.text):
            found.append(f"turn {told.turn_id} was accepted with another text")
        elif turn["conversation_id"] != told.session_id:
            found.append(f"turn {told.turn_id} is in another session than was told")
        elif turn["message_position"] and shown[told.turn_id] != [turn["message"]]:
            found.append(f"the message of turn {told.turn_id} is shown {shown[told.turn_id]}")
    return list(dict.fromkeys(found))


def submit_is_idempotent(history: History) -> list[str]:
    """One key, one turn: in what clients were told, and in the table."""
    told: dict[str, set[str]] = defaultdict(set)
    for submitted in history.submitted:
        told[submitted.key].add(submitted.turn_id)
    stored: dict[str, list[str]] = defaultdict(list)
    for turn in history.turns:
        if turn["idempotency_key"]:
            stored[turn["idempotency_key"]].append(turn["id"])
    return [f"key {key} was told {len(ids)} turns" for key, ids in told.items() if len(ids) > 1] + [
        f"key {key} has {len(ids)} turns" for key, ids in stored.items() if len(ids) > 1
    ]


def an_outage_is_clean(history: History) -> list[str]:
    """No error of the server but a 503 that comes soon and says when to try again."""
    found = []
    for answer in history.answered:
        what = f"{answer.method} {answer.path} got {answer.status}"
        if answer.status == 503:
            if not answer.retry_after:
                found.append(f"{what} without Retry-After")
            if answer.seconds > FAST_SECONDS:
                found.append(f"{what} only after {answer.seconds:.1f} s")
        elif answer.status >= 500:
            found.append(f"{what}: {answer.reason}")
    return found


def refusals_say_when(history: History) -> list[str]:
    """Back-pressure names the time after which to try again."""
    return [
        f"{answer.method} {answer.path} got 429 without Retry-After"
        for answer in history.answered
        if answer.status == 429 and not answer.retry_after
    ]


def sessions_open(history: History) -> list[str]:
    """Whatever was sent, a session can be opened again."""
    return [f"session {session_id} cannot be opened" for session_id in history.unopened]


def deleted_stays_deleted(history: History) -> list[str]:
    """No late write of a stopped worker brings back what was deleted."""
    gone = {deleted.session_id for deleted in history.deleted}
    rows = {row["conversation_id"] for row in (*history.rows, *history.turns)}
    return [f"deleted session {session_id} has rows again" for session_id in sorted(gone & rows)]
