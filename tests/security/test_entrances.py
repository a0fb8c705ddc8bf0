"""Ways in: what strangers and other websites make of them, and when what was let in ends."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.auth.tokens import digest
from tests.integration.people.people import PASSWORD, Accounts, accounts_of
from tests.integration.scenes import check_problem
from tests.stack import Stack

pytestmark = pytest.mark.security

STRANGER = "198.51.100.7"
NEW = "another four random words"
# By what reverse proxies and identity-aware ones usually say who somebody is.
IDENTITIES = [
    "X-Forwarded-User", "X-Forwarded-Email", "X-Auth-Request-User", "Remote-User",
    "X-Remote-User", "X-WebAuth-User", "X-Colloquy-Person", "X-Colloquy-Sign-In",
]  # fmt: skip


@pytest.fixture
def accounts(stack: Stack, tmp_path: Path) -> Iterator[Accounts]:
    with accounts_of(stack, tmp_path) as found:
        yield found


def asking_from(accounts: Accounts, address: str, **headers: str) -> TestClient:
    """Return a client at a network address."""
    app = accounts.visitor().app
    base_url = "http://127.0.0.1/api/v1"
    return TestClient(app, base_url=base_url, client=(address, 5000), headers=headers)


def sign_in(client: TestClient, login: str, password: str = PASSWORD) -> Any:
    return client.post("/sign-ins", json={"login": login, "password": password})


@pytest.mark.parametrize(
    ("peer", "forwarded", "noted"),
    [
        (STRANGER, "10.0.0.1", STRANGER),
        (STRANGER, "127.0.0.1", STRANGER),
        (STRANGER, "10.9.9.9, 127.0.0.1", STRANGER),
        ("127.0.0.1", STRANGER, STRANGER),
        ("127.0.0.1", f"10.0.0.1, {STRANGER}", STRANGER),
        ("10.9.9.9", f"6.6.6.6, {STRANGER}", STRANGER),
        ("127.0.0.1", f"6.6.6.6, {STRANGER}, 10.9.9.9", STRANGER),
    ],
)
def test_a_stranger_does_not_choose_the_address_that_is_noted(
    stack: Stack, tmp_path: Path, peer: str, forwarded: str, noted: str
) -> None:
    with accounts_of(stack, tmp_path, trusted_proxies="10.9.9.0/24") as accounts:
        name, _ = accounts.person()
        client = asking_from(accounts, peer, **{"X-Forwarded-For": forwarded})

        token = sign_in(client, name).json()["token"]
        signed_in = accounts.visitor(token).get("/sign-ins").json()["items"]
        (this,) = [one for one in signed_in if one["is_this"]]

    assert this["address"] == noted


def test_naming_other_addresses_does_not_shorten_the_wait(accounts: Accounts) -> None:
    statuses = [
        sign_in(
            asking_from(accounts, "198.51.100.8", **{"X-Forwarded-For": f"203.0.113.{number}"}),
            f"nobody-{number}",
        ).status_code
        for number in range(22)
    ]

    assert statuses[:20] == [401] * 20
    assert 429 in statuses[20:]


@pytest.mark.parametrize("auth", ["local", "local,proxy"])
def test_who_names_somebody_is_not_them(stack: Stack, tmp_path: Path, auth: str) -> None:
    proxies = {"trusted_proxies": "10.9.9.9"} if "proxy" in auth else {}
    with accounts_of(stack, tmp_path, auth=auth, **proxies) as accounts:
        accounts.first_admin()
        claims = dict.fromkeys(IDENTITIES, "local")

        for address in (STRANGER, "127.0.0.1", "10.9.9.9"):
            client = asking_from(accounts, address, **claims)
            check_problem(client.get("/account"), 401)
            check_problem(client.get("/sessions"), 401)
            check_problem(client.post("/sign-ins/proxy", json={"user": "local"}), 401)


def test_a_sign_in_is_new_each_time_and_only_its_digest_is_kept(
    accounts: Accounts, stack: Stack
) -> None:
    name, _ = accounts.person()

    tokens = {sign_in(accounts.visitor(), name).json()["token"] for _ in range(3)}
    stored = json.dumps(stack.query("SELECT * FROM sign_ins"), default=str)

    assert len(tokens) == 3
    for token in tokens:
        assert len(token.removeprefix("cqs_")) == 43  # 256 bits in base64
        assert token not in stored and digest(token) in stored


def test_a_token_that_somebody_else_chose_is_never_made_valid(accounts: Accounts) -> None:
    name, _ = accounts.person()
    planted = accounts.visitor("cqs_" + "a" * 43)

    token = sign_in(planted, name).json()["token"]

    check_problem(planted.get("/account"), 401)
    assert accounts.visitor(token).get("/account").json()["user_id"] == name


@pytest.mark.parametrize(
    ("what", "is_over"),
    [
        ("used_at = now() - interval '11 hours 59 minutes'", False),
        ("used_at = now() - interval '12 hours 1 minute'", True),
        ("ends_at = now() + interval '1 minute'", False),
        ("ends_at = now() - interval '1 second'", True),
    ],
)
def test_a_sign_in_ends_when_it_is_not_used_and_after_its_time(
    accounts: Accounts, stack: Stack, what: str, is_over: bool
) -> None:
    name, _ = accounts.person()
    token = sign_in(accounts.visitor(), name).json()["token"]

    stack.query_and_commit(f"UPDATE sign_ins SET {what} WHERE token_hash = :t", t=digest(token))

    assert accounts.visitor(token).get("/account").status_code == (401 if is_over else 200)


def test_a_sign_in_that_is_used_does_not_last_longer_than_seven_days(
    accounts: Accounts, stack: Stack
) -> None:
    name, _ = accounts.person()
    token = sign_in(accounts.visitor(), name).json()["token"]
    accounts.visitor(token).get("/account").raise_for_status()

    ((days,),) = stack.query(
        "SELECT extract(epoch FROM ends_at - created_at) / 86400 FROM sign_ins"
        " WHERE token_hash = :t",
        t=digest(token),
    )

    assert float(days) == pytest.approx(7)


def test_a_password_is_changed_with_the_old_one_and_ends_all_sign_ins(accounts: Accounts) -> None:
    name, person = accounts.person()
    elsewhere = accounts.visitor(sign_in(accounts.visitor(), name).json()["token"])

    check_problem(person.post("/account/password", json={"old": "wrong", "new": NEW}), 401)
    assert elsewhere.get("/account").status_code == 200
    changed = person.post("/account/password", json={"old": PASSWORD, "new": NEW})

    assert changed.status_code == 201
    for client in (person, elsewhere):
        check_problem(client.get("/account"), 401)
    assert accounts.visitor(changed.json()["token"]).get("/account").status_code == 200
    assert sign_in(accounts.visitor(), name, NEW).status_code == 201


def test_a_password_is_what_was_typed_to_the_letter(accounts: Accounts) -> None:
    name, person = accounts.person()
    exact = " Vier zufällige Wörter ✓ "
    person.post("/account/password", json={"old": PASSWORD, "new": exact}).raise_for_status()

    for other in (exact.strip(), exact.lower(), exact[:-1]):
        check_problem(sign_in(accounts.visitor(), name, other), 401)
    assert sign_in(accounts.visitor(), name, exact).status_code == 201


def test_a_password_is_kept_as_a_slow_hash(accounts: Accounts, stack: Stack) -> None:
    name, _ = accounts.person()

    ((stored,),) = stack.query("SELECT password_hash FROM users WHERE id = :n", n=name)

    _, kind, _, parameters, *_ = stored.split("$")
    values = dict(part.split("=") for part in parameters.split(","))
    assert kind == "argon2id"
    assert int(values["m"]) >= 65_536 and int(values["t"]) >= 3
