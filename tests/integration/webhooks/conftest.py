"""What the tests of webhooks share: an installation with accounts, people of it, a receiver."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.people.people import Accounts, accounts_of
from tests.servers.receiver import Receiver
from tests.stack import Servers, Stack

HELLO = script({"text": "Hello there."})


@dataclass
class Place:
    """An installation whose webhooks may go to this machine."""

    stack: Stack
    accounts: Accounts
    receiver: Receiver
    hooks: list[tuple[TestClient, str]] = field(default_factory=list)

    def hook(self, person: TestClient, path: str = "/", **body: Any) -> JSON:
        """Set a webhook to the receiver; it ends with the test."""
        asked = {"name": "hook", "url": self.receiver.url + path, **body}
        made = person.post("/webhooks", json=asked)
        assert made.status_code == 201, made.text
        found: JSON = made.json()
        self.hooks.append((person, found["id"]))
        return found

    def ask(self, person: TestClient, message: str = HELLO, **body: Any) -> JSON:
        """Send a message and wait for its turn's end."""
        headers = {"Prefer": "respond-async"}
        sent = person.post("/chat", json={"message": message, **body}, headers=headers)
        assert sent.status_code == 202, sent.text
        accepted: JSON = sent.json()

        def has_ended() -> bool:
            turn = person.get(f"/turns/{accepted['turn_id']}").json()
            return turn["status"] in ("succeeded", "failed", "stopped")

        self.sees(has_ended, "the turn does not end")
        return accepted

    def sees(self, is_so: Callable[[], Any], complaint: str, seconds: float = 30) -> Any:
        return self.stack.wait_for(is_so, complaint, seconds)

    def deliveries(self, person: TestClient, hook: JSON, **query: str) -> list[JSON]:
        answer = person.get(f"/webhooks/{hook['id']}/deliveries", params=query)
        assert answer.status_code == 200, answer.text
        items: list[JSON] = answer.json()["items"]
        return items

    def time_passes(self) -> None:
        """Have everything that waits be due."""
        self.stack.query_and_commit("UPDATE webhook_deliveries SET due_at = clock_timestamp()")


@pytest.fixture(scope="module")
def running(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Stack, Accounts]]:
    home, allowed = tmp_path_factory.mktemp("webhooks"), "127.0.0.1"
    options = {"AUTH": "local", "OUTGOING_ALLOWED": allowed, "LEASE_SECONDS": "2",
               "SWEEP_SECONDS": "0.3"}  # fmt: skip
    with make_stack(servers, model, home, **options) as stack:
        keys = Path(stack.environment["DATA_DIR"])
        with accounts_of(stack, keys, outgoing_allowed=allowed) as accounts:
            yield stack, accounts


@pytest.fixture
def place(running: tuple[Stack, Accounts]) -> Iterator[Place]:
    with Receiver() as receiver:
        found = Place(*running, receiver)
        yield found
        receiver.released.set()
        found.stack.query_and_commit("DELETE FROM webhooks")
