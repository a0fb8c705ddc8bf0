"""The outputs of tasks, and the result of a plan for its manager: bounded JSON. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.fences import without_fence
from backend.types import JSON

MOST_ROWS = 200
MOST_OUTPUT = 100_000  # characters of one task's output as JSON
MOST_SHOWN = 8_000  # of outputs in lists and events
MOST_RESULT = 60_000  # characters of a plan tool's result
LEAST_SHARE = 200
NOTE = 40  # characters that say how many rows were left out
NOT_DONE = """# Task
You work on one task of a plan; nobody reads along who could answer a question. If it cannot be
done, answer with this JSON object and nothing else: {"taskComplete": false, "message": "why"}."""


def make_message(description: str, given: Any) -> str:
    """Return the message for a task's agent: the description, and its input as JSON."""
    if not given:
        return description
    written = json.dumps(given, ensure_ascii=False, indent=1, default=str)
    return f"{description}\n\n# Input\n```json\n{written}\n```"


def with_task(system_prompt: str | None) -> str:
    """Return the system prompt for an agent working on a task."""
    return "\n\n".join(filter(None, (system_prompt, NOT_DONE)))


def make_output(answer: str, table: Mapping[str, Any] | None, artifacts: Sequence[JSON]) -> JSON:
    """Return a task's output: its answer as text and by key, its last table, its artifacts."""
    output: JSON = {}
    if table is not None:
        output |= _table(table)
    output |= _keys(answer)
    output["text"] = _cut_text(answer, MOST_OUTPUT // 2)
    if artifacts:
        output["artifacts"] = list(artifacts)
    return fit_output(output, MOST_OUTPUT)


def why_not_done(output: JSON) -> str | None:
    """Return why a task was not done, if its answer says so; else None."""
    if output.get("taskComplete") is not False:
        return None
    message = output.get("message")
    return message if isinstance(message, str) and message.strip() else "It does not say why."


def write_result(plan: JSON, tasks: Sequence[JSON]) -> str:
    """Return a plan's outputs as JSON text; each task gets a share, and cuts are marked."""
    share = max(LEAST_SHARE, MOST_RESULT // max(1, len(tasks)))
    fitted = [
        {**task, "output": fit_output(task["output"], share)} if task.get("output") else task
        for task in tasks
    ]
    return json.dumps({**plan, "tasks": fitted}, ensure_ascii=False, default=str)


def write_single(agent: str, output: JSON) -> str:
    """Return a called agent's output as JSON text."""
    result = {**fit_output(output, MOST_RESULT), "agent": agent}
    return json.dumps(result, ensure_ascii=False, default=str)


def fit_output(output: JSON, most: int) -> JSON:
    """Return the part of an output that fits: half of it text, then rows and small fields.

    Omissions are marked in place.
    """
    if _size(output) <= most:
        return output
    share = most // 8
    fitted = {key: _shorten(key, value, share, most) for key, value in output.items()}
    if isinstance(rows := output.get("rows"), list):
        kept = _fitting(rows, most - _size(fitted) - NOTE)
        before = output.get("rows_left_out")
        left_out = (before if isinstance(before, int) else 0) + len(rows) - len(kept)
        fitted |= {"rows": kept, "rows_left_out": left_out}
    if _size(fitted) <= most:
        return fitted
    names = ", ".join(output)[:LEAST_SHARE]
    text = _cut_text(str(output.get("text", "")), most // 2)
    return {"text": text, "cut": f"left out: {names}"}


def _keys(answer: str) -> JSON:
    """Return the fields of an answer that is a JSON object, alone or in a fence."""
    text = without_fence(answer)
    if not text.startswith("{"):
        return {}
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _table(table: Mapping[str, Any]) -> JSON:
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=False)) for row in table["rows"][:MOST_ROWS]]
    given: JSON = {"columns": names, "rows": rows}
    total = table.get("row_count", len(rows))
    if total > len(rows):
        given["rows_left_out"] = total - len(rows)
    return given


def _shorten(key: str, value: Any, share: int, most: int) -> Any:
    if key == "rows":
        return []
    if isinstance(value, str):
        return _cut_text(value, most // 2 if key == "text" else share)
    size = _size(value)
    return value if size <= share else f"[left out: {size:,} characters]"


def _fitting(rows: Sequence[Any], most: int) -> list[Any]:
    kept, size = [], 0
    for row in rows:
        size += _size(row) + 2
        if size > most:
            break
        kept.append(row)
    return kept


def _cut_text(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]} [cut here: it has {len(text):,} characters]"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))
