"""Streams and waits that are open end once their caller may not go on; so do their turns."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest
from sqlalchemy import delete

from backend.types import JSON
from db.models.people.grant import GrantRow
from db.models.people.user import TeamMemberRow
from tests.fakes import ENDLESS, ScriptedModel, script
from tests.integration.people.people import Accounts
from tests.integration.people.serving import LONG, following, served, token_of
from tests.integration.scenes import check_problem
from tests.stack import Stack


@pytest.fixture
def url(stack: Stack) -> Iterator[str]:
    with served(stack) as url:
        yield url


def grant(accounts: Accounts, session_id: str, kind: str, principal: str) -> None:
    with accounts.database.transaction() as session:
        session.add(
            GrantRow(
                resource_type="session", resource_id=session_id, principal_type=kind,
                principal_id=principal, right="read", granted_by="somebody",
            )
        )  # fmt: skip


def ask_for_long(client: httpx.Client) -> JSON:
    """Begin a turn that does not end by itself."""
    body, headers = {"message": script(ENDLESS)}, {"Prefer": "respond-async"}
    return client.post("/chat", json=body, headers=headers).raise_for_status().json()


def test_a_stream_ends_when_its_caller_may_not_follow_any_more(
    accounts: Accounts, url: str, model: ScriptedModel
) -> None:
    _, owner = accounts.person()
    reader, of_reader = accounts.person()
    team = accounts.team()
    member, of_member = accounts.person(teams=[team])
    busy = ask_for_long(owner)["session_id"]
    grant(accounts, busy, "user", reader)
    grant(accounts, busy, "team", team)
    made = owner.post("/account/tokens", json={"name": "follows", "allows": "read"}).json()

    with ExitStack() as stack:
        followed = {
            "token revoked": (made["token"], busy),
            "grant taken away": (token_of(of_reader), busy),
            "left the team": (token_of(of_member), busy),
            "session deleted": (token_of(owner), busy),
        }
        streams = {
            why: stack.enter_context(following(url, *each)) for why, each in followed.items()
        }
        owner.delete(f"/account/tokens/{made['id']}").raise_for_status()
        with accounts.database.transaction() as session:
            session.execute(delete(GrantRow).where(GrantRow.principal_id == reader))
            session.execute(delete(TeamMemberRow).where(TeamMemberRow.user_id == member))
        ends = {why: list(streams[why])[-1] for why in list(streams)[:3]}
        owner.delete(f"/sessions/{busy}").raise_for_status()
        ends["session deleted"] = list(streams["session deleted"])[-1]

    assert {why: (one["event"], one["data"]["status"]) for why, one in ends.items()} == {
        "token revoked": ("ended", 401),
        "grant taken away": ("ended", 404),
        "left the team": ("ended", 404),
        "session deleted": ("ended", 404),
    }


def test_a_person_who_is_disabled_in_the_middle_of_an_answer_is_cut_off_and_so_is_the_turn(
    accounts: Accounts, url: str, stack: Stack, model: ScriptedModel
) -> None:
    admin = accounts.first_admin()
    name, person = accounts.person()
    turn = ask_for_long(person)

    with following(url, token_of(person), turn["session_id"]) as events:
        next(event for event in events if event["event"] == "text_delta")
        admin.patch(f"/people/{name}", json={"disabled": True}).raise_for_status()
        last = list(events)[-1]

    assert (last["event"], last["data"]["status"]) == ("ended", 401)
    stack.wait_for(
        lambda: stack.query("SELECT 1 FROM turns WHERE id = CAST(:id AS uuid)"
                            " AND status = 'stopped'", id=turn["turn_id"]),
        "the turn of a person who was disabled goes on",
    )  # fmt: skip


def test_a_wait_for_an_answer_ends_with_its_sign_in(
    accounts: Accounts, url: str, model: ScriptedModel
) -> None:
    _, person = accounts.person()
    token = token_of(person)
    headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=300"}

    def wait() -> httpx.Response:
        body = {"message": script(ENDLESS)}
        return httpx.post(f"{url}/chat", json=body, headers=headers, timeout=LONG)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        while not person.get("/sessions").json()["items"]:
            assert not waiting.done()
        person.delete("/sign-ins").raise_for_status()

        check_problem(waiting.result(), 401)
