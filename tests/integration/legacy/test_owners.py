"""For whom conversations are taken over, and who finds them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from backend.auth.scope import LOCAL_USER
from backend.legacy.errors import LegacyRefused
from backend.legacy.owner import find_owner
from backend.settings import Settings
from db.models.people.user import LOCAL, UserRow
from tests.integration.legacy.test_migration import new_name, take
from tests.integration.people.people import Accounts, accounts_of
from tests.samples.legacy import Sample
from tests.stack import Stack


@pytest.fixture(scope="module")
def accounts(shared_stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Accounts]:
    with accounts_of(shared_stack, tmp_path_factory.mktemp("accounts")) as found:
        yield found


def owner_of(accounts: Accounts, named: str | None, auth: str = "local") -> str:
    settings = Settings(_env_file=None, auth=auth)
    with accounts.database.read() as session:
        return find_owner(session, settings, named).user_id


def change(accounts: Accounts, user_id: str, **values: str) -> None:
    with accounts.database.transaction() as session:
        session.execute(update(UserRow).where(UserRow.id == user_id).values(**values))


def test_an_owner_is_found_by_any_of_their_names(accounts: Accounts) -> None:
    one, _ = accounts.person()
    change(accounts, one, email=f"{one}@example.com", name=f"Name of {one}")

    for named in (one, one.upper(), f"{one}@EXAMPLE.com", f"name of {one}"):
        assert owner_of(accounts, named) == one


def test_an_owner_who_is_not_named_is_the_first_administrator(accounts: Accounts) -> None:
    accounts.person(role="admin")

    assert owner_of(accounts, None) == LOCAL
    assert owner_of(accounts, None, auth="none") == LOCAL_USER.user_id


def test_an_unclear_owner_is_refused_with_those_who_are_meant(accounts: Accounts) -> None:
    (one, _), (other, _) = accounts.person(), accounts.person()
    for person in (one, other):
        change(accounts, person, name=f"Both of {one}")

    with pytest.raises(LegacyRefused, match="Several people are called") as refused:
        owner_of(accounts, f"both of {one}")

    assert one in str(refused.value)
    assert other in str(refused.value)


def test_only_its_owner_finds_a_conversation_by_its_old_id(
    stack: Stack, accounts: Accounts, tmp_path: Path
) -> None:
    owner, theirs = accounts.person()
    _, others = accounts.person()
    name = new_name()
    sample = Sample(tmp_path / "old.sqlite")
    sample.row(f"{name}-1", f"agent_{name}", domain="finance")

    session_id = take(stack, sample, "--owner", owner)[f"{name}-1"]["session"]

    found = {}
    for who, client in (("theirs", theirs), ("others", others)):
        page = client.get("/sessions", params={"legacy_id": f"{name}-1"}).json()
        found[who] = [session["id"] for session in page["items"]]
    assert found == {"theirs": [session_id], "others": []}


def test_who_may_not_manage_domains_gets_none_from_the_file(
    stack: Stack, accounts: Accounts, tmp_path: Path
) -> None:
    owner, _ = accounts.person()
    name = new_name()
    sample = Sample(tmp_path / "old.sqlite")
    sample.domain(name)
    sample.row(f"{name}-1", "agent_1", domain=name)

    row = take(stack, sample, "--owner", owner)[f"{name}-1"]

    assert (row["outcome"], row["reason"]) == ("reported", "its domain is unknown")
    assert "may not make domains" in row["notes"][-1]
