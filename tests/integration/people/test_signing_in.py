"""Signing in with a password: links, sign-ins, tokens, and their ends."""

from typing import Any

from backend.auth import local
from backend.schemas.people.account import LinkPurpose
from tests.integration.people.people import PASSWORD, Accounts
from tests.integration.scenes import check_problem
from tests.stack import Stack


def sign_in(accounts: Accounts, login: str, password: str) -> Any:
    return accounts.visitor().post("/sign-ins", json={"login": login, "password": password})


def test_nobody_is_anybody_without_a_token(accounts: Accounts) -> None:
    for client in (accounts.visitor(), accounts.visitor("cqs_x"), accounts.visitor("nonsense")):
        answer = client.get("/sessions")

        check_problem(answer, 401)
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_person_signs_in_and_out(accounts: Accounts) -> None:
    name, _ = accounts.person()

    answer = sign_in(accounts, name.upper(), PASSWORD)
    person = accounts.visitor(answer.json()["token"])
    account = person.get("/account").json()
    person.delete(f"/sign-ins/{account['sign_in']}").raise_for_status()

    assert answer.status_code == 201
    assert (account["user_id"], account["role"], account["permissions"]) == (name, "member", [])
    check_problem(person.get("/account"), 401)


def test_a_wrong_password_and_an_unknown_name_are_refused_alike(accounts: Accounts) -> None:
    name, _ = accounts.person()

    wrong = sign_in(accounts, name, "another password")
    unknown = sign_in(accounts, "nobody", "another password")

    check_problem(wrong, 401)
    assert {**wrong.json(), "instance": ""} == {**unknown.json(), "instance": ""}


def test_failures_make_the_next_attempt_wait_and_lock_nobody_out(accounts: Accounts) -> None:
    name, _ = accounts.person()

    # The waits double: on a busy machine the first are over before the next attempt.
    answers = [sign_in(accounts, name, "wrong") for _ in range(10)]
    refused = [answer for answer in answers if answer.status_code != 401]

    assert {answer.status_code for answer in answers[:5]} == {401}
    for answer in refused[:1] or answers:
        check_problem(answer, 429)
        assert 1 <= int(answer.headers["Retry-After"]) <= 30


def test_a_link_is_used_once_and_its_password_is_a_good_one(accounts: Accounts) -> None:
    name, _ = accounts.person()
    with accounts.database.transaction() as session:
        link = local.make_link(session, LinkPurpose.RESET, name)
    visitor, path = accounts.visitor(), f"/one-time-links/{link}"

    for weak in ("short", "password1234", "qwertyuiop12", name, "x" * 129):
        check_problem(visitor.post(path, json={"password": weak}), 422)
    first = visitor.post(path, json={"password": "another four random words"})
    second = visitor.post(path, json={"password": "yet another four random words"})

    assert first.status_code == 201
    check_problem(second, 410)
    check_problem(sign_in(accounts, name, PASSWORD), 401)
    assert sign_in(accounts, name, "another four random words").status_code == 201


def test_the_first_administrator_is_who_worked_without_signing_in(
    accounts: Accounts, stack: Stack
) -> None:
    session_id = stack.client.post("/sessions", json={}).raise_for_status().json()["id"]

    admin = accounts.first_admin()

    assert admin.get(f"/sessions/{session_id}").status_code == 200
    assert "manage_people" in admin.get("/account").json()["permissions"]


def test_a_token_allows_what_it_was_made_for_until_it_is_revoked(accounts: Accounts) -> None:
    _, person = accounts.person("admin")
    made = person.post("/account/tokens", json={"name": "reads", "allows": "read"}).json()
    program = accounts.visitor(made["token"])

    assert program.get("/sessions").status_code == 200
    check_problem(program.post("/sessions", json={}), 403)
    check_problem(program.post("/people", json={"name": "x"}), 403)
    person.delete(f"/account/tokens/{made['id']}").raise_for_status()
    check_problem(program.get("/sessions"), 401)
    (listed,) = person.get("/account/tokens").json()["items"]
    assert listed["revoked_at"] and "token" not in listed


def test_a_person_who_is_switched_off_is_nobody_at_once(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    name, person = accounts.person()
    token = person.post("/account/tokens", json={"name": "a program"}).json()["token"]

    admin.patch(f"/people/{name}", json={"disabled": True}).raise_for_status()

    check_problem(person.get("/account"), 401)
    check_problem(accounts.visitor(token).get("/account"), 401)
    check_problem(sign_in(accounts, name, PASSWORD), 401)
    admin.patch(f"/people/{name}", json={"disabled": False}).raise_for_status()
    assert sign_in(accounts, name, PASSWORD).status_code == 201


def test_somebody_can_always_administer(accounts: Accounts) -> None:
    admin = accounts.first_admin()
    others = [
        one for one in admin.get("/people?limit=200").json()["items"] if one["role"] == "admin"
    ]
    for other in others:
        if other["id"] != "local":
            admin.patch(f"/people/{other['id']}", json={"role": "member"}).raise_for_status()

    check_problem(admin.patch("/people/local", json={"disabled": True}), 409)
    check_problem(admin.patch("/people/local", json={"role": "member"}), 409)


def test_a_member_manages_nobody(accounts: Accounts) -> None:
    name, person = accounts.person()

    check_problem(person.get("/people"), 403)
    check_problem(person.patch(f"/people/{name}", json={"role": "admin"}), 403)
    check_problem(person.get("/teams"), 403)
