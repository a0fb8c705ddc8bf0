"""How turns may move: P3, P4, P5, P6, P17, P18."""

from collections import defaultdict
from collections.abc import Iterator

from backend.schemas.conversations.turns import TurnStatus
from backend.turns.lifecycle import MAX_LOSSES, is_finished, may_become
from backend.types import JSON
from tests.chaos.staging.records import Disturbed, History, Note

P50_SECONDS, P99_SECONDS = 2.0, 5.0


def one_effective_writer(history: History) -> list[str]:
    """Attempts only rise, an ended turn changes no more, each writing names its turn."""
    found, before = [], dict[str, JSON]()
    for note in _of(history, "turns"):
        old, new = before.get(note.row["id"]), note.row
        before[new["id"]] = new
        if old is None or note.op == "DELETE":
            continue
        if new["attempt"] < old["attempt"]:
            found.append(f"turn {new['id']} went back from attempt {old['attempt']}")
        was, now = TurnStatus(old["status"]), TurnStatus(new["status"])
        if was is not now and not may_become(was, now):
            found.append(f"turn {new['id']} went from {was} to {now}")
        if is_finished(was) and new["steps"] != old["steps"]:
            found.append(f"turn {new['id']} made a step after it had {was}")
    return found + _writes_without_turn(history)


def _writes_without_turn(history: History) -> list[str]:
    found = []
    for tx, notes in _transactions(history).items():
        named = {n.row["conversation_id"] for n in notes if n.table == "turns"}
        for note in notes:
            written = note.table in ("display_messages", "agent_state_deltas")
            if written and note.op == "INSERT" and note.row["conversation_id"] not in named:
                found.append(f"transaction {tx} wrote {note.table} without its turn")
    return list(dict.fromkeys(found))


def one_active_turn(history: History) -> list[str]:
    """At most one turn of a conversation runs, and it is the first that has not ended."""
    found = []
    turns: dict[str, dict[str, JSON]] = defaultdict(dict)
    for note in _of(history, "turns"):
        of_conversation = turns[note.row["conversation_id"]]
        of_conversation[note.row["id"]] = note.row
        if note.op == "DELETE" or note.row["status"] != "running":
            continue
        others = [t for t in of_conversation.values() if t["id"] != note.row["id"]]
        if any(other["status"] in ("running", "waiting") for other in others):
            found.append(f"two turns of {note.row['conversation_id']} ran at once")
        if any(o["number"] < note.row["number"] and o["status"] == "queued" for o in others):
            found.append(f"turn {note.row['id']} ran before one that came earlier")
    return list(dict.fromkeys(found))


def every_turn_ends(history: History) -> list[str]:
    """When all is over every turn has ended, or waits for people, by the table and not by hope."""
    return [
        f"turn {turn['id']} is still {turn['status']} at attempt {turn['attempt']}"
        for turn in history.turns
        if not is_finished(TurnStatus(turn["status"])) and not waits_for_people(turn)
    ]


def waits_for_people(turn: JSON) -> bool:
    """Whether nobody has decided yet what the turn asks."""
    return turn["status"] == "waiting" and turn["decided_at"] is None


def a_step_is_atomic(history: History) -> list[str]:
    """Display rows, state and the turn's row change in one transaction, or none does."""
    found = []
    for tx, notes in _transactions(history).items():
        shown = {
            note.row["conversation_id"]
            for note in notes
            if (note.table, note.op) == ("display_messages", "INSERT")
            and note.row["content_type"] in ("text", "tool_call", "tool_result")
        }
        kept = {n.row["conversation_id"] for n in notes if n.table == "agent_state_deltas"}
        found += [f"transaction {tx} has rows of {one} without its state" for one in shown - kept]
    return found


def lost_turns_start_again(history: History) -> list[str]:
    """A killed worker's turns have their next attempt soon, where nothing else was broken."""
    times = sorted(recovery_times(history))
    if not times:
        return []
    p50, p99 = percentile(times, 50), percentile(times, 99)
    found = [f"half of the lost turns waited {p50:.1f} s"] if p50 > P50_SECONDS else []
    return found + ([f"a lost turn waited {p99:.1f} s"] if p99 > P99_SECONDS else [])


def poison_is_bounded(history: History) -> list[str]:
    """No turn loses more workers in a row than it may; one that was given up says so."""
    found = []
    for turn in history.turns:
        if turn["losses_in_row"] > MAX_LOSSES:
            found.append(f"turn {turn['id']} lost {turn['losses_in_row']} workers in a row")
        if turn["status"] == "failed" and not (turn["error"] or {}).get("detail"):
            found.append(f"turn {turn['id']} failed without a reason")
    return found


def recovery_times(history: History, alone: bool = True) -> list[float]:
    """Seconds from a worker's SIGKILL to the next attempt of each turn that it was running.

    Left out are turns that were stopped meanwhile, and kills of all workers at once, after which
    somebody has to start one; with `alone`, kills with another fault close by too.
    """
    times = []
    for fault in history.disturbed:
        if fault.kind == "kill-worker" and not (alone and _is_crowded(history, fault)):
            for turn_id in _running_at(history, fault):
                if (claimed := _next_attempt(history, turn_id, fault.started)) is not None:
                    times.append(claimed - fault.started)
    return times


def percentile(ordered: list[float], percent: int) -> float:
    """The smallest value that so many percent of the values do not exceed."""
    place = -(-len(ordered) * percent // 100) - 1
    return ordered[max(0, place)]


def _is_crowded(history: History, fault: Disturbed) -> bool:
    start, end = fault.started - 5, fault.started + P99_SECONDS
    others = [other for other in history.disturbed if other is not fault]
    return any(other.started <= end and other.ended >= start for other in others)


def _running_at(history: History, fault: Disturbed) -> list[str]:
    latest: dict[str, JSON] = {}
    for note in _of(history, "turns"):
        if note.at <= fault.started:
            latest[note.row["id"]] = note.row
    pids = {f".{pid}." for pid in fault.victims}
    return [
        turn["id"]
        for turn in latest.values()
        if turn["status"] == "running" and any(pid in turn["worker"] for pid in pids)
    ]


def _next_attempt(history: History, turn_id: str, since: float) -> float | None:
    attempt = None
    for note in _of(history, "turns"):
        if note.row["id"] != turn_id:
            continue
        if note.at <= since:
            attempt = note.row["attempt"]
        elif is_finished(TurnStatus(note.row["status"])):
            return None
        elif attempt is not None and note.row["attempt"] > attempt:
            return note.at
    return None


def _of(history: History, table: str) -> Iterator[Note]:
    return (note for note in history.notes if note.table == table)


def _transactions(history: History) -> dict[int, list[Note]]:
    by_tx: dict[int, list[Note]] = defaultdict(list)
    for note in history.notes:
        by_tx[note.tx].append(note)
    return by_tx
