"""A stack whose worker has tools that misbehave, and what must hold after each of them."""

from pathlib import Path
from typing import Any

from backend.types import JSON
from tests.integration.scenes import check_views
from tests.stack import Stack


class OddStack(Stack):
    """Its worker has tools that misbehave; `armed` lets it dawdle once after a claim."""

    @property
    def armed(self) -> Path:
        return Path(self.environment["FAILPOINTS_DIR"]) / "claim.after_commit"

    def start_worker(self) -> Any:
        self.workers.append(self.start("-m", "tests.servers.odd_worker"))
        return self.workers[-1]


def check_goes_on(stack: Stack, session_id: str) -> list[JSON]:
    """The rows, after checking that both views agree and that a next message works."""
    rows, _ = check_views(stack, session_id)
    again = stack.chat("go on", session_id)
    assert again["status"] == "succeeded", stack.turn(again["turn_id"])["error"]
    assert check_views(stack, session_id)[0][: len(rows)] == rows
    return rows


def result_of(rows: list[JSON]) -> JSON:
    (result,) = (row["content"] for row in rows if row["content_type"] == "tool_result")
    return result


def call(name: str, **arguments: Any) -> JSON:
    return {"tools": [{"name": name, "args": arguments}]}
