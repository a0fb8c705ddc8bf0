"""A tool that asks again in a session also asks again in the sessions of its tasks."""

import threading

from backend.types import JSON
from tests.fakes import ScriptedModel
from tests.integration.plans.team import FAILING, Team, plan, task
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack


def test_a_tool_that_is_forbidden_again_asks_in_tasks_too(
    stack: Stack, model: ScriptedModel
) -> None:
    mended = threading.Event()

    def reply(temp_id: str) -> JSON:
        if temp_id == "t2" and not mended.is_set():
            return FAILING
        return {"tools": [{"name": "mail_send", "args": {}}]}

    with ToolServer([tool("mail_send")], lambda *_: "sent") as server:
        team = Team(stack, model, reply)
        made = stack.client.post(
            "/domains",
            json={
                "name": "allowed-again",
                "mcp_servers": {"tools": server.template},
                "middleware": [{"approvals": {"rules": [{"tools": "mail_*", "action": "ask"}]}}],
                "agents": [{"name": n, "tools": ["mail_send"]} for n in ("Analyst", "Writer")],
                "manager": {"name": "Sage", "tools": []},
            },
        )
        assert made.status_code == 201, made.text
        team.domain = "allowed-again"
        session = stack.client.post("/sessions", json={"domain": team.domain}).json()["id"]
        stack.query_and_commit(
            "UPDATE conversations SET metadata = metadata ||"
            ' \'{"allowed_tools": ["mail_send"]}\'::jsonb WHERE id = :id',
            id=session,
        )
        turn = team.ask(plan(task("t2", onFailure="ask")), session_id=session)

        def asks() -> JSON | None:
            found = team.tasks(session) if team.plans(session) else {}
            return found["t2"] if found and found["t2"]["status"] == "asking" else None

        one = stack.wait_for(asks, "no task asks")
        left = stack.client.delete(f"/sessions/{session}/allowed_tools/mail_send")
        assert left.json() == {"allowed_tools": []}, left.text
        mended.set()
        again = stack.client.post(f"/tasks/{one['id']}/decision", json={"decision": "retry"})
        assert again.status_code == 200, again.text

        def settled() -> bool:
            return bool(server.calls) or team.tasks(session)["t2"]["waiting_for_approval"]

        stack.wait_for(settled, "neither asked nor ran", 30)
        assert server.calls == []
        assert stack.client.get(f"/sessions/{session}").json()["waits_for"] == "people"
        stack.client.post(f"/turns/{turn['turn_id']}/stop")
