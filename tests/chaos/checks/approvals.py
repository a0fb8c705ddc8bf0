"""What people decide applies once, and to nothing else: P21."""

from backend.types import JSON
from tests.chaos.staging.records import History

ASKS = "pay"  # the tool that runs only when somebody has approved


def a_decision_applies_once(history: History) -> list[str]:
    """An approval is decided once, and what asks runs only after its own approval."""
    found, before = [], dict[str, JSON]()
    approved: dict[str, float] = {}
    for note in history.notes:
        if note.table != "approvals" or note.op == "DELETE":
            continue
        old, new = before.get(note.row["id"]), note.row
        before[new["id"]] = new
        if old and old["status"] != "pending" and old != new:
            found.append(f"the approval {new['id']} was {old['status']} and then {new['status']}")
        if new["status"] == "decided" and new["decision"]["type"] == "approve":
            approved.setdefault(str(new["arguments"].get("key")), note.at)
    for ran in history.ran:
        if ran.name == ASKS and ran.started < approved.get(ran.key, float("inf")):
            found.append(f"{ran.name} {ran.key} ran and was not approved")
    return found
