"""What tests of policies read of a stored state, and how a turn goes on from it."""

import json

from backend.types import JSON

CALL = {"name": "look", "args": {}}


def results(state: JSON) -> list[JSON]:
    return [m for m in state["messages"] if m["role"] == "tool"]


def said(state: JSON) -> str:
    return str(state["messages"][-1]["content"])


def later(state: JSON, text: str) -> JSON:
    """The stored state in which a person asks again."""
    stored: JSON = json.loads(json.dumps(state))
    message = {"role": "user", "content": text, "id": f"u{len(stored['messages'])}"}
    return {**stored, "messages": [*stored["messages"], message]}
