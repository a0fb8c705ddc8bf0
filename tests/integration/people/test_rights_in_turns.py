"""What the asker may do holds as it is at each call: taken away in mid-turn, it is gone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mcp.types import CallToolResult, TextContent

from backend.types import JSON
from tests.fakes import script
from tests.integration.people.people import Accounts, accounts_of
from tests.integration.scenes import make_domain
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

ASYNC = {"Prefer": "respond-async"}
QUERY = {"name": "query_source", "args": {"source": "fi", "sql": "SELECT 42 AS n"}}
CALL = {"name": "look", "args": {}}


class Scene:
    """A person's turn that calls a tool, and then another one; and who takes a right away."""

    def __init__(self, accounts: Accounts, stack: Stack) -> None:
        self.accounts, self.stack = accounts, stack
        self.admin = accounts.first_admin()
        self.team, self.other = accounts.team(), accounts.team()
        _, self.owner = accounts.person(teams=[self.team])
        self.name, self.asker = accounts.person(teams=[self.team])
        self.granted: list[JSON] = []
        self.domain_id = self.session_id = ""

    def give_to_others(self, resource_type: str, resource_id: str) -> None:
        """Grant something to others, so that it is the asker's no more."""
        grant = {
            "resource_type": resource_type, "resource_id": resource_id,
            "principal_type": "team", "principal_id": self.other,
        }  # fmt: skip
        right = "query" if resource_type == "source" else "use"
        self.admin.put("/grants", json={**grant, "right": right}).raise_for_status()
        self.granted.append(grant)

    def clear(self) -> None:
        for grant in self.granted:
            self.admin.delete("/grants", params=grant).raise_for_status()

    def run(self, team: bool, then: JSON, take: Callable[["Scene"], Any]) -> tuple[JSON, str]:
        """Run the turn; return it, and what the model was told last."""
        said = CallToolResult(content=[TextContent(type="text", text="seen")])
        calls: list[str] = []

        def look(name: str, arguments: JSON) -> CallToolResult:
            calls.append(name)
            if len(calls) == 1:
                take(self)
            return said

        with ToolServer([tool("look")], look) as server:
            domain = make_domain(self.stack, mcp_servers={"eyes": server.template})
            self.domain_id = domain["id"]
            body = {"domain": domain["name"]} | ({"team": self.team} if team else {})
            self.session_id = self.owner.post("/sessions", json=body).json()["id"]
            if not team:
                grant = {"principal_type": "user", "principal_id": self.name, "right": "continue"}
                path = f"/sessions/{self.session_id}/grants"
                self.owner.put(path, json=grant).raise_for_status()
            steps = script({"tools": [CALL]}, {"tools": [then]}, {"text": "End."})
            path = f"/sessions/{self.session_id}/chat"
            turn = self.asker.post(path, json={"message": steps}, headers=ASYNC).json()
            ended = self.stack.finished(turn["turn_id"])
        rows = self.stack.messages(self.session_id)
        results = [r["content"]["content"] for r in rows if r["content_type"] == "tool_result"]
        assert calls == ["look"], "a call ran that was not to run"
        return ended, str(results[-1])


@pytest.fixture
def scene(stack: Stack, tmp_path: Path) -> Iterator[Scene]:
    with accounts_of(stack, tmp_path) as accounts:
        made = Scene(accounts, stack)
        yield made
        made.clear()


def unshare(scene: Scene) -> None:
    grant = {"principal_type": "user", "principal_id": scene.name}
    scene.owner.delete(f"/sessions/{scene.session_id}/grants", params=grant).raise_for_status()


def leave_team(scene: Scene) -> None:
    scene.admin.delete(f"/teams/{scene.team}/members/{scene.name}").raise_for_status()


def withhold_domain(scene: Scene) -> None:
    scene.give_to_others("domain", scene.domain_id)


def withhold_model(scene: Scene) -> None:
    scene.give_to_others("model", scene.stack.client.get("/server").json()["model"])


@pytest.mark.parametrize(
    ("of_team", "take", "title"),
    [
        (False, unshare, "Rights ended"),
        (True, leave_team, "Rights ended"),
        (True, withhold_domain, "Rights ended"),
        (True, withhold_model, "Model withheld"),
    ],
)
def test_who_may_not_go_on_ends_the_turn_at_the_next_call(
    scene: Scene, of_team: bool, take: Callable[[Scene], None], title: str
) -> None:
    ended, _ = scene.run(of_team, CALL, take)

    assert (ended["status"], ended["error"]["title"]) == ("failed", title)


@pytest.mark.parametrize(
    ("kind", "name", "then", "said"),
    [("source", "fi", QUERY, "no source 'fi'"), ("server", "eyes", CALL, "look")],
)
def test_what_is_withheld_does_not_exist_at_the_next_call(
    scene: Scene, kind: str, name: str, then: JSON, said: str
) -> None:
    ended, last = scene.run(True, then, lambda scene: scene.give_to_others(kind, name))

    assert ended["status"] == "succeeded"
    assert said in last and "seen" not in last


def test_what_others_were_granted_is_in_no_list_and_no_default(scene: Scene) -> None:
    domain = make_domain(scene.stack)
    member: TestClient = scene.asker
    scene.give_to_others("domain", domain["id"])
    scene.give_to_others("source", "BPC")

    names = [one["name"] for one in member.get("/domains?limit=200").json()["items"]]
    sources = [one["name"] for one in member.get("/sources").json()["items"]]
    refused = [
        member.get(f"/domains/{domain['id']}"),
        member.post("/sessions", json={"domain": domain["name"]}),
        member.get("/sources/bpc"),
    ]

    assert domain["name"] not in names
    assert "fi" in sources and "bpc" not in sources
    assert [answer.status_code for answer in refused] == [404] * 3
    reach = scene.admin.get(f"/people/{scene.name}/reach").json()
    assert {"resource_type": "source", "resource_id": "bpc"} in reach["withheld"]
    who = scene.admin.get("/grants?resource_type=source&resource_id=bpc").json()
    assert (who["is_everyones"], [one["principal_id"] for one in who["items"]]) == (
        False,
        [scene.other],
    )


def test_an_editor_of_one_domain_edits_that_one(scene: Scene) -> None:
    own, other = make_domain(scene.stack), make_domain(scene.stack)
    grant = {"resource_type": "domain", "principal_type": "user", "principal_id": scene.name}
    scene.admin.put("/grants", json={**grant, "resource_id": own["id"], "right": "edit"})

    changed = scene.asker.patch(f"/domains/{own['id']}", json={"description": "Mine"})
    refused = scene.asker.patch(f"/domains/{other['id']}", json={"description": "Mine"})

    assert (changed.status_code, refused.status_code) == (200, 403)
    assert scene.asker.put(
        "/grants", json={**grant, "resource_id": own["id"], "right": "use"}
    ).is_success
    assert scene.asker.get("/grants?resource_type=source").status_code == 403


def test_an_agent_whose_model_is_withheld_is_nobodys_to_ask(scene: Scene) -> None:
    model = "a-model-for-few"
    agents = [{"name": "Costly", "model": model}, {"name": "Plain"}]
    domain = make_domain(scene.stack, agents=agents, models=[model])
    scene.give_to_others("model", model)

    listed = scene.asker.get(f"/domains/{domain['id']}/agents").json()["items"]
    session = scene.asker.post("/sessions", json={"domain": domain["name"]}).json()
    asked = [
        scene.asker.post(f"/sessions/{session['id']}/chat", json={"message": "Hello", **choice})
        for choice in ({"agent": "Costly"}, {"model": model})
    ]

    assert [agent["name"] for agent in listed] == ["Plain"]
    assert session["models"] == []
    assert [answer.status_code for answer in asked] == [422, 422]
