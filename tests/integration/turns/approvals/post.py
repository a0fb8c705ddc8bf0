"""A domain whose mails ask first, and what its tests say to it and read of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import make_domain, make_session
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

SCHEMA: JSON = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["to"],
}
TOOLS = ("mail_send", "mail_drop", "look_up", "wipe")
RULES: list[JSON] = [{"tools": "mail_*", "action": "ask"}, {"tools": "wipe", "action": "deny"}]


class Post:
    """A domain whose mails ask first, and the server that counts what is sent."""

    def __init__(self, stack: Stack, server: ToolServer, rules: list[JSON]) -> None:
        self.stack, self.server = stack, server
        made = make_domain(
            stack,
            mcp_servers={"tools": server.template},
            middleware=[{"approvals": {"rules": rules}}],
        )
        self.domain, self.domain_id = made["name"], made["id"]

    def ask(self, *calls: JSON, after: str = "all done") -> JSON:
        """Let an agent make these calls in one message; give the turn once it waits."""
        session_id = make_session(self.stack, self.domain)
        said = script({"text": "I will", "tools": list(calls)}, {"text": after})
        return self.ask_in(session_id, said)

    def ask_in(self, session_id: str, said: str) -> JSON:
        turn_id = self.stack.submit(said, session_id)["turn_id"]
        return self.waiting(turn_id)

    def waiting(self, turn_id: str) -> JSON:
        def turn() -> JSON | None:
            now = self.stack.turn(turn_id)
            is_under_way = now["status"] in ("queued", "running", "waiting")
            assert is_under_way, self.stack.messages(now["session_id"])
            return now if now["status"] == "waiting" else None

        return self.stack.wait_for(turn, "the turn does not wait")

    def decide(self, turn: JSON, *decisions: JSON) -> Any:
        body = {"decisions": list(decisions)}
        return self.stack.client.post(f"/turns/{turn['id']}/decisions", json=body)

    def pending(self, turn: JSON) -> list[JSON]:
        page = self.stack.client.get("/approvals", params={"limit": 200}).json()
        return [item for item in page["items"] if item["turn_id"] == turn["id"]]

    def calls(self) -> list[tuple[str, JSON]]:
        return self.server.calls


def mail(to: str, name: str = "mail_send", **more: Any) -> JSON:
    return {"name": name, "args": {"to": to, **more}}


def rows_of(stack: Stack, turn: JSON, content_type: str) -> list[JSON]:
    rows = stack.messages(turn["session_id"])
    return [row for row in rows if row["content_type"] == content_type]


@contextmanager
def open_post(stack: Stack, rules: list[JSON] = RULES) -> Iterator[Post]:
    tools = [tool(name, SCHEMA) for name in TOOLS]
    with ToolServer(tools, lambda name, given: f"{name} {given.get('to')}") as server:
        yield Post(stack, server, rules)
