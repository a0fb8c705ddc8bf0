"""Thirty people at once: nothing that one of them asked or was told reaches another."""

import re
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest

from tests.fakes import ScriptedModel, script
from tests.integration.people.people import Accounts
from tests.integration.people.serving import following, served, token_of
from tests.stack import Stack

PEOPLE, ROUNDS = 30, 3
SIGN = re.compile(r"sign[0-9a-f]{32}")
LISTS = ("/sessions", "/search?q=sign*", "/approvals", "/tasks", "/files", "/usage", "/server")

pytestmark = pytest.mark.chaos


def test_nothing_of_thirty_people_reaches_another(
    accounts: Accounts, stack: Stack, model: ScriptedModel
) -> None:
    people = [token_of(accounts.person()[1]) for _ in range(PEOPLE)]

    with served(stack) as url, ThreadPoolExecutor(PEOPLE) as pool:
        heard = list(pool.map(lambda token: talk(url, token), people))

    for own, seen in heard:
        assert len(own) == ROUNDS
        assert set(own) == seen


def talk(url: str, token: str) -> tuple[list[str], set[str]]:
    """Talk as one person: give the signs in their questions, and all signs that they saw."""
    headers = {"Authorization": f"Bearer {token}"}
    own, texts = [], []
    with httpx.Client(base_url=url, headers=headers, timeout=120) as client:
        for _ in range(ROUNDS):
            own.append(f"sign{uuid4().hex}")
            question = script({"text": f"The answer to {own[-1]}.", "delay": 0.02})
            asked = client.post("/chat", json={"message": question}).raise_for_status()
            session_id = asked.json()["session_id"]
            texts.append(asked.text)
            with following(url, token, f"{session_id}", after="0") as events:
                for event in events:
                    texts.append(str(event))
                    if event["event"] == "turn_finished":
                        break
            paths = (f"/sessions/{session_id}/messages", f"/sessions/{session_id}/export", *LISTS)
            texts += [client.get(path).raise_for_status().text for path in paths]
            found = client.get("/search", params={"q": own[-1]}).json()["items"]
            assert {one["session_id"] for one in found} == {session_id}
    return own, set(SIGN.findall(" ".join(texts)))
