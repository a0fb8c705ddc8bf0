"""Signing in under attack: many at once, huge and unreadable input, odd headers."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.integration.people.people import PASSWORD, Accounts

FREE = 5  # wrong passwords of an account that cost nothing


def test_many_wrong_passwords_at_once_do_not_slip_past_the_throttle(accounts: Accounts) -> None:
    name, _ = accounts.person()

    def attempt(number: int) -> int:
        body = {"login": name, "password": f"wrong {number}"}
        return accounts.visitor().post("/sign-ins", json=body).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(attempt, range(12)))

    # Where twelve take longer than the first wait, it lets one more in.
    assert statuses.count(401) <= FREE + 1
    assert set(statuses) == {401, 429}


def test_what_cannot_be_a_password_is_refused_before_anything_is_computed(
    accounts: Accounts,
) -> None:
    name, _ = accounts.person()
    visitor = accounts.visitor()

    for password in ("x" * 1_000_000, "x" * 1_001):
        body = {"login": name, "password": password}
        assert visitor.post("/sign-ins", json=body).status_code in (413, 422)
    for text in (r'"\ud800 half a character"', r'"nul \u0000 nul"', "7", "null", "{}", '["x"]'):
        body = f'{{"login": {json.dumps(name)}, "password": {text}}}'
        answer = _send(visitor, "/sign-ins", body)
        assert answer.status_code in (401, 422), (text, answer.text)
    assert _sign_in(accounts, name).status_code == 201


@pytest.mark.parametrize(
    "name", [r"\u0000", r"\ud800", r"\u202e", r"\u200b\u200b", r"a\u0000b", r"a\u202eb", "   "]
)
def test_a_name_is_readable_or_refused(accounts: Accounts, name: str) -> None:
    admin = accounts.first_admin()

    answers = [
        _send(admin, path, f'{{"name": "{name}"}}')
        for path in ("/people", "/teams", "/account/tokens")
    ] + [_send(admin, "/sign-ins", f'{{"login": "{name}", "password": "x"}}')]

    for answer in answers:
        assert answer.status_code in (201, 401, 422), answer.text
        if answer.status_code == 201:
            made = answer.json()
            shown = made.get("person", made)["name"]
            assert shown.strip() and shown.isprintable(), ascii(shown)


def test_a_token_is_sent_once_in_its_header_and_nowhere_else(accounts: Accounts) -> None:
    _, person = accounts.person()
    _, other = accounts.person()
    sent = person.headers["Authorization"]
    token = sent.removeprefix("Bearer ")
    visitor = accounts.visitor()

    def status(*values: str, path: str = "/account") -> int:
        headers = [("Authorization", value) for value in values]
        return visitor.get(path, headers=headers).status_code

    assert status(f"bearer {token}") == status(f"BEARER {token}") == 200  # RFC 9110, 11.1
    for odd in (
        (sent, other.headers["Authorization"]),
        (sent, sent),
        (f"{sent}, Bearer x",),
        (f"Bearer x, {sent}",),
        (token,),
        ("Bearer",),
        ("Bearer ",),
        (f"Basic {token}",),
        (f"Bearer {token[:-1]}",),
        (f"Bearer {token.upper()}",),
        (f"Bearer {token}=",),
        ("Bearer " + "x" * 5_000,),
    ):
        assert status(*odd) == 401, odd
    for name in ("token", "access_token", "authorization"):
        assert status(path=f"/account?{name}={token}") in (401, 422)
        assert status(sent, path=f"/account?{name}={token}") == 422
    visitor.cookies.set("token", token)
    assert status() == 401


def _sign_in(accounts: Accounts, login: str) -> Any:
    body = {"login": login, "password": PASSWORD}
    return accounts.visitor().post("/sign-ins", json=body)


def _send(client: Any, path: str, body: str) -> Any:
    return client.post(path, content=body, headers={"Content-Type": "application/json"})
