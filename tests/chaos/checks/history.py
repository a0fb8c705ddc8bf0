"""What is stored of a conversation, and never changes: P7, P8, P9, P10."""

from collections import defaultdict
from itertools import pairwise

from backend.conversations.state.delta import apply_deltas
from backend.types import JSON
from tests.chaos.checks.turns import waits_for_people
from tests.chaos.staging.records import History, Note, PageRead

OPEN = ("pending", "executing")
ENDED = ("succeeded", "failed", "stopped")


def state_is_linear(history: History) -> list[str]:
    """Each conversation's versions count up by one: no gap, no fork."""
    versions: dict[str, int] = {}
    found = []
    for note in history.notes:
        key = note.row.get("conversation_id", "")
        if (note.table, note.op) == ("agent_state_snapshots", "INSERT"):
            versions[key] = note.row["version"]
        elif (note.table, note.op) == ("agent_state_deltas", "INSERT"):
            expected = versions.get(key, 0) + 1
            if note.row["version"] != expected:
                found.append(f"state of {key} went to {note.row['version']}, not to {expected}")
            versions[key] = note.row["version"]
    return found


def history_is_append_only(history: History) -> list[str]:
    """What a client has read is still there, in its place, with its content."""
    final = {(row["conversation_id"], row["position"]): row for row in history.rows}
    gone = {deleted.session_id for deleted in history.deleted}
    found = []
    for page in history.pages:
        if page.session_id not in gone:
            found += _changes(page, final)
    for note in history.notes:
        is_deletion = (note.table, note.op) == ("display_messages", "DELETE")
        if is_deletion and note.row["conversation_id"] not in gone:
            found.append(f"row {note.row['position']} of a session was deleted")
    return list(dict.fromkeys(found))


def _changes(page: PageRead, final: dict[tuple[str, int], JSON]) -> list[str]:
    found = []
    for row in page.rows:
        place = f"row {row['position']} of {page.session_id}"
        now = final.get((page.session_id, row["position"]))
        if now is None or now["id"] != row["id"]:
            found.append(f"{place} was shown and is gone")
        elif now["content"] != row["content"]:
            found.append(f"{place} has another content than it was shown with")
        elif row["status"] not in OPEN and now["status"] != row["status"]:
            found.append(f"{place} went from {row['status']} to {now['status']}")
    return found


def order_is_kept(history: History) -> list[str]:
    """Positions have no gap, and each turn's rows stand behind those of the turn before it."""
    rows: dict[str, list[JSON]] = defaultdict(list)
    for row in history.rows:
        rows[row["conversation_id"]].append(row)
    number = {turn["id"]: turn["number"] for turn in history.turns}
    waiting = {turn["id"] for turn in history.turns if waits_for_people(turn)}
    found = []
    for session_id, shown in rows.items():
        positions = [row["position"] for row in shown]
        if positions != list(range(1, len(positions) + 1)):
            found.append(f"positions of {session_id} are {positions}")
        turns = [number[row["turn_id"]] for row in shown if row["turn_id"] in number]
        if any(one > other for one, other in pairwise(turns)):
            found.append(f"turns of {session_id} are mixed: {turns}")
        found += [
            f"row {row['position']} of {session_id} is {row['status']} for ever"
            for row in shown
            if row["status"] in OPEN and row["turn_id"] not in waiting
        ]
    return found


def state_is_valid(history: History) -> list[str]:
    """At every commit each call but those in hand has one result, in place; at the end, all."""
    states: dict[str, JSON] = {}
    found = []
    for note in history.notes:
        key = note.row.get("conversation_id", "")
        if (note.table, note.op) == ("agent_state_snapshots", "INSERT"):
            states[key] = note.row["state_data"]
        elif (note.table, note.op) == ("agent_state_deltas", "INSERT"):
            states[key] = apply_deltas(states[key], [note.row["delta"]])
            if fault := disorder(states[key]["messages"], may_end_open=True):
                found.append(f"state of {key} at version {note.row['version']}: {fault}")
        elif _is_end(note) and (fault := disorder(states[key]["messages"], may_end_open=False)):
            found.append(f"state of {key} when turn {note.row['id']} ended: {fault}")
    return list(dict.fromkeys(found))


def _is_end(note: Note) -> bool:
    """Whether a turn that had begun ended by this change."""
    if (note.table, note.op) != ("turns", "UPDATE"):
        return False
    return note.row["status"] in ENDED and note.row["message_position"] is not None


def disorder(messages: list[JSON], may_end_open: bool) -> str | None:
    """What a model would refuse: a call without its result, a result without its call."""
    open_ids: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                return f"a result for no call: {message.get('tool_call_id')}"
            open_ids.remove(message["tool_call_id"])
            continue
        if open_ids:
            return f"calls without a result: {open_ids}"
        open_ids = [call["id"] for call in message.get("tool_calls") or []]
    return None if may_end_open or not open_ids else f"calls without a result: {open_ids}"
