"""People whom a trusted proxy has let in, at the API and by way of the pages' server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.addresses import Address
from backend.api.app import serve_app
from backend.auth import sign_ins
from backend.auth.sign_ins import Visitor
from tests.integration.people.people import Accounts, accounts_of
from tests.integration.scenes import check_problem
from tests.stack import Stack

PROXY, PAGES_KEY = "10.0.0.5", "a key that only pages and API know"
GROUPS = {"checks": {"role": "reviewer"}}


@pytest.fixture
def accounts(stack: Stack, tmp_path: Path) -> Iterator[Accounts]:
    ways = {"auth": "local,proxy", "trusted_proxies": PROXY, "proxy_groups": GROUPS}
    with accounts_of(stack, tmp_path, pages_key=PAGES_KEY, **ways) as found:
        yield found


def visit(accounts: Accounts, peer: str, **headers: str) -> TestClient:
    """Return a client of the API as it is served, whose requests come from this address."""
    served = serve_app(accounts.app, Address("127.0.0.1", 80))
    given = {f"Remote-{name}": value for name, value in headers.items()}
    url = "http://127.0.0.1/api/v1"
    return TestClient(served, base_url=url, client=(peer, 50_000), headers=given)


def sign_in(accounts: Accounts, key: str | None, **person: Any) -> Any:
    visitor = accounts.visitor(key)
    return visitor.post("/sign-ins/proxy", json={"user": "ada", **person})


def test_the_api_believes_trusted_proxies_only(accounts: Accounts) -> None:
    person = visit(accounts, PROXY, User="ada", Name="Ada", Groups="checks")

    account = person.get("/account").json()
    later = visit(accounts, PROXY, User="ada").get("/account").json()
    other = visit(accounts, PROXY, User="ada ").get("/account").json()
    stranger = visit(accounts, "127.0.0.1", User="ada")

    assert (account["name"], account["role"], account["sign_in"]) == ("Ada", "reviewer", None)
    assert (later["user_id"], later["role"]) == (account["user_id"], "member")
    assert other["user_id"] == account["user_id"]
    check_problem(stranger.get("/account"), 401)
    forged = accounts.visitor("Proxied(user='ada', email=None, name=None, groups=())")
    check_problem(forged.get("/account"), 401)


def test_the_pages_server_signs_in_whom_a_proxy_names(accounts: Accounts) -> None:
    admin = accounts.first_admin()

    answer = sign_in(accounts, PAGES_KEY, name="Ada", groups=["checks"])
    account = accounts.visitor(answer.json()["token"]).get("/account").json()
    again = sign_in(accounts, PAGES_KEY)
    admin.patch(f"/people/{account['user_id']}", json={"disabled": True}).raise_for_status()

    assert (answer.status_code, account["role"]) == (201, "reviewer")
    assert again.json()["user_id"] == account["user_id"]
    check_problem(sign_in(accounts, PAGES_KEY), 403)
    check_problem(accounts.visitor(again.json()["token"]).get("/account"), 401)


def test_whom_a_proxy_names_leaves_all_servers_of_the_pages_at_once(accounts: Accounts) -> None:
    first, second, other = (
        accounts.visitor(sign_in(accounts, PAGES_KEY, user=user).json()["token"])
        for user in ("cleo", "cleo", "dora")
    )
    with accounts.database.transaction() as session:
        user_id = first.get("/account").json()["user_id"]
        password = accounts.visitor(sign_ins.begin(session, user_id, "local", Visitor()).token)

    status = second.delete(f"/sign-ins/{second.get('/account').json()['sign_in']}").status_code

    assert status == 204
    check_problem(first.get("/account"), 401)
    assert [one.get("/account").status_code for one in (password, other)] == [200, 200]
    password.delete(f"/sign-ins/{password.get('/account').json()['sign_in']}")
    check_problem(password.get("/account"), 401)


@pytest.mark.parametrize("key", [None, "", "another key", PAGES_KEY + "x"])
def test_nobody_else_says_whom_a_proxy_has_let_in(accounts: Accounts, key: str | None) -> None:
    check_problem(sign_in(accounts, key), 401)
    check_problem(accounts.visitor(key).get("/sign-ins/proxy"), 401)
    assert accounts.visitor(PAGES_KEY).get("/sign-ins/proxy").status_code == 204
