"""The finance team's story as the API tells it afterwards, without what differs from run to run."""

import json
import re

from backend.domains.finance_team import FINANCE_TEAM
from backend.types import JSON
from tests.integration.scenes import check_views, make_session
from tests.stack import Stack

QUESTION = "Reconcile FI and BPC for 2026 and write me a report"
AGREEMENT = "yes, proceed with that plan"
SECONDS = 240  # of a busy machine
PAGE = 1_000
_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|call_[0-9a-f]+")


def propose(stack: Stack) -> str:
    """Have the manager propose its plan; give the session."""
    session_id = make_session(stack, FINANCE_TEAM.name)
    turn = stack.submit(QUESTION, session_id)
    assert stack.finished(turn["turn_id"], SECONDS)["status"] == "succeeded"
    return session_id


def proceed(stack: Stack, session_id: str) -> str:
    """Agree with the plan; give the turn that carries it out."""
    turn_id: str = stack.submit(AGREEMENT, session_id)["turn_id"]
    return turn_id


def tasks_of(stack: Stack, session_id: str) -> dict[str, JSON]:
    """The tasks of a session's plan by their names in it; none before there is one."""
    plans = stack.client.get(f"/sessions/{session_id}/tasks").json()["items"]
    assert len(plans) <= 1, plans
    return {task["temp_id"]: task for plan in plans for task in plan["tasks"]}


def whole_story(stack: Stack, session_id: str) -> JSON:
    """All that was said and made: of the session, and in the session of each task."""
    tasks = tasks_of(stack, session_id)
    return without_ids(
        {
            "artifacts": results(stack, session_id),
            "said": _said(stack, session_id),
            "tasks": {
                name: [task["name"], task["agent"], task["status"], task["tries"], task["output"]]
                for name, task in tasks.items()
            },
            "within": {name: _said(stack, task["session_id"]) for name, task in tasks.items()},
        }
    )


def results(stack: Stack, session_id: str) -> list[JSON]:
    """Each artifact of a session with the content of its only version, by title."""
    listed = stack.client.get(f"/sessions/{session_id}/artifacts").json()["items"]
    for artifact in listed:
        assert artifact["version"] == 1, artifact
    return [
        {key: artifact[key] for key in ("id", "kind", "title", "agent")}
        | {"content": _content(stack, artifact["id"])}
        for artifact in sorted(listed, key=lambda artifact: artifact["title"])
    ]


def without_ids(told: JSON) -> JSON:
    """The same with each id named by the place where it occurs first."""
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return names.setdefault(found[0].replace("-", ""), f"id {len(names)}")

    read: JSON = json.loads(_ID.sub(name, json.dumps(told)))
    return read


def _content(stack: Stack, artifact_id: str) -> JSON:
    """All that is shown of an artifact, page by page."""
    path = f"/artifacts/{artifact_id}/versions/1"
    preview: JSON = stack.client.get(path).json()["preview"]
    if "total_rows" not in preview:
        return preview
    rows = preview["rows"]
    while len(rows) < preview["total_rows"]:
        asked = {"offset": len(rows), "limit": PAGE}
        rows += stack.client.get(path, params=asked).json()["preview"]["rows"]
    return {**preview, "rows": rows}


def _said(stack: Stack, session_id: str) -> list[JSON]:
    """What people read of a session, but that a worker was lost."""
    rows, _ = check_views(stack, session_id)
    rows = [row for row in rows if row["content_type"] != "notice"]
    kept = ("message_type", "content_type", "agent", "status", "content")
    return [{key: row[key] for key in kept} for row in rows]
