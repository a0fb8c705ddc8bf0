"""The demo model's todos for a question with several steps. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.demo_model.conversation import Call, Conversation
from backend.demo_model.questions.catalogue import CALLS

TOOL = "write_todos"


def without_todos(conversation: Conversation) -> Conversation:
    """Return the conversation without results of writing todos, so only with what was looked up."""
    results = tuple(r for r in conversation.results if r.call.name != TOOL)
    return replace(conversation, results=results)


def next_tick(conversation: Conversation, steps: Sequence[str], *, is_done: bool) -> Call | None:
    """Return the call that updates the todos; None if they are current, or without such a tool.

    The first step is done once anything was looked up, the others when nothing is left to do.
    """
    if not steps or TOOL not in conversation.tools:
        return None
    looked_up = any(r.call not in CALLS for r in without_todos(conversation).results)
    current = len(steps) if is_done else int(looked_up)
    wanted = Call(TOOL, {"todos": [_todo(s, n, current) for n, s in enumerate(steps)]})
    written = [result.call for result in conversation.results if result.call.name == TOOL]
    return None if written and written[-1] == wanted else wanted


def _todo(step: str, number: int, current: int) -> dict[str, Any]:
    status = "completed" if number < current else "pending"
    return {"content": step, "status": "in_progress" if number == current else status}
