"""Signing in with an identity provider, as one scripted provider and its answers go."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt

from backend.auth import local
from backend.schemas.people.account import LinkPurpose
from backend.types import JSON
from tests.integration.people.people import Accounts, accounts_of
from tests.integration.scenes import check_problem
from tests.servers.oidc import CLIENT_SECRET, KEY, OidcProvider, new_key
from tests.stack import Stack

NO_ALGORITHM = "eyJhbGciOiJub25lIn0"  # {"alg":"none"}
ALLOWED = {"outgoing_allowed": "127.0.0.1"}


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with OidcProvider(name="Ada Lovelace", email="ada@example.com") as running:
        yield running


@pytest.fixture
def accounts(stack: Stack, tmp_path: Path, provider: OidcProvider) -> Iterator[Accounts]:
    stack.query_and_commit("DELETE FROM failed_sign_ins")  # each refusal is recorded once
    fixed = {"fixed": provider.settings(groups_claim="groups")}
    with accounts_of(stack, tmp_path, auth="local,oidc", oidc_providers=fixed, **ALLOWED) as found:
        yield found


def begin(accounts: Accounts, provider: str = "fixed", **body: str) -> JSON:
    begun = accounts.visitor().post("/sign-ins/oidc", json={"provider": provider, **body})
    assert begun.status_code == 200, begun.text
    return begun.json()


def finish(
    accounts: Accounts, begun: JSON, answer: JSON, provider: str = "fixed", **body: Any
) -> Any:
    given = {"provider": provider, "browser_key": begun["browser_key"], **answer, **body}
    return accounts.visitor().post("/sign-ins/oidc/answer", json=given)


def sign_in(accounts: Accounts, at: OidcProvider, provider: str = "fixed", **body: str) -> Any:
    begun = begin(accounts, provider, **body)
    return finish(accounts, begun, at.sign_in(begun["url"]), provider)


def account_of(accounts: Accounts, answer: Any) -> JSON:
    assert answer.status_code == 200, answer.text
    return accounts.visitor(answer.json()["token"]).get("/account").json()


def last_refusal(accounts: Accounts) -> JSON:
    query = (
        "SELECT details FROM audit_events WHERE action = 'sign_in_failed' ORDER BY id DESC LIMIT 1"
    )
    with accounts.database.read() as session:
        return session.connection().exec_driver_sql(query).scalar_one_or_none() or {}


def test_somebody_new_becomes_a_member_and_stays_the_same_whatever_their_address(
    accounts: Accounts, provider: OidcProvider
) -> None:
    first = account_of(accounts, sign_in(accounts, provider))
    provider.person |= {"name": "Ada King", "email": "another@example.com"}
    second = account_of(accounts, sign_in(accounts, provider))
    provider.person |= {"sub": "somebody-else"}
    other = account_of(accounts, sign_in(accounts, provider))

    assert (first["name"], first["email"], first["role"]) == (
        "Ada Lovelace",
        "ada@example.com",
        "member",
    )
    assert second["user_id"] == first["user_id"] != other["user_id"]


def test_an_answer_counts_once_and_in_the_browser_that_began(
    accounts: Accounts, provider: OidcProvider
) -> None:
    begun, foreign = begin(accounts), begin(accounts)
    answer = provider.sign_in(begun["url"])

    assert finish(accounts, begun, answer).status_code == 200
    check_problem(finish(accounts, begun, answer), 401)
    stolen = finish(accounts, begun, provider.sign_in(foreign["url"]))
    check_problem(stolen, 401)
    assert "another browser" in stolen.json()["detail"]
    assert last_refusal(accounts) | {"address": ""} == {
        "way": "oidc",
        "provider": "fixed",
        "address": "",
        "reason": "another browser",
    }


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("expired", {"edit": lambda claims: claims | {"exp": 1}}),
        ("wrong nonce", {"edit": lambda claims: claims | {"nonce": "of-another-sign-in"}}),
        (
            "wrong key",
            {"sign": lambda claims: jwt.encode({"alg": "RS256", "kid": "x"}, claims, KEY)},
        ),
        ("wrong aud", {"edit": lambda claims: claims | {"aud": "another-client"}}),
        ("wrong iss", {"edit": lambda claims: claims | {"iss": "https://attacker.example"}}),
        (
            "wrong algorithm",
            {
                "sign": lambda claims: (
                    f"{NO_ALGORITHM}.{jwt.encode({'alg': 'RS256'}, claims, KEY).split('.')[1]}."
                )
            },
        ),
        ("wrong userinfo", {"userinfo": {"sub": "somebody-else"}}),
    ],
)
def test_a_wrong_token_signs_nobody_in(
    accounts: Accounts, provider: OidcProvider, reason: str, change: JSON
) -> None:
    for name, value in change.items():
        setattr(provider, name, value)

    refused = sign_in(accounts, provider)

    check_problem(refused, 401)
    assert last_refusal(accounts)["reason"] == reason


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("wrong issuer", {"iss": "https://attacker.example"}),
        ("wrong issuer", {"iss": None}),
        ("no such sign-in", {"state": "guessed"}),
        ("access_denied", {"error": "access_denied"}),
        ("no code", {"error": "<b>Call 555-0100</b>"}),
        ("invalid_grant", {"code": "stolen"}),
    ],
)
def test_an_answer_that_is_not_the_one_asked_for_signs_nobody_in(
    accounts: Accounts, provider: OidcProvider, reason: str, change: JSON
) -> None:
    begun = begin(accounts)
    answer = {**provider.sign_in(begun["url"]), **change}

    refused = finish(accounts, begun, {k: v for k, v in answer.items() if v is not None})

    check_problem(refused, 401)
    assert "555" not in refused.text
    assert last_refusal(accounts)["reason"] == reason


def test_the_answer_of_one_provider_is_not_taken_for_anothers(
    accounts: Accounts, provider: OidcProvider
) -> None:
    admin = accounts.first_admin()
    with OidcProvider() as other:
        new = other.settings(id="other")
        admin.post("/identity-providers", json=new).raise_for_status()
        begun = begin(accounts, "other")
        answer = other.sign_in(begun["url"])

        check_problem(finish(accounts, begun, answer, "fixed"), 401)
        begun = begin(accounts, "other")
        mixed_up = {**other.sign_in(begun["url"]), "iss": provider.issuer}
        check_problem(finish(accounts, begun, mixed_up, "other"), 401)
        admin.delete("/identity-providers/other").raise_for_status()

    assert "/token" not in other.calls


def test_a_provider_changes_its_keys_at_any_time(
    accounts: Accounts, provider: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.auth.oidc.metadata.RENEWED_SECONDS", 0.0)
    account_of(accounts, sign_in(accounts, provider))
    newer = new_key("newer")
    provider.keys = [newer]
    provider.sign = lambda claims: jwt.encode({"alg": "RS256", "kid": "newer"}, claims, newer)

    account_of(accounts, sign_in(accounts, provider))


def test_groups_give_teams_and_a_role_until_they_end(
    accounts: Accounts, provider: OidcProvider
) -> None:
    admin, team, own_team = accounts.first_admin(), accounts.team(), accounts.team()
    groups = {"money": {"team": team}, "checks": {"role": "reviewer"}, "other": {"team": own_team}}
    new = provider.settings(id="groups", groups_claim="realm.groups", groups=groups)
    admin.post("/identity-providers", json=new).raise_for_status()
    provider.userinfo = {"realm": {"groups": ["money", "checks", "unknown"]}}

    account = account_of(accounts, sign_in(accounts, provider, "groups"))
    admin.put(f"/teams/{own_team}/members/{account['user_id']}").raise_for_status()
    provider.userinfo = {"realm": {"groups": []}}
    later = account_of(accounts, sign_in(accounts, provider, "groups"))
    admin.delete("/identity-providers/groups").raise_for_status()

    assert ([one["id"] for one in account["teams"]], account["role"]) == ([team], "reviewer")
    assert ([one["id"] for one in later["teams"]], later["role"]) == ([own_team], "member")


def test_a_role_that_an_administrator_gave_outlives_the_claims(
    accounts: Accounts, provider: OidcProvider
) -> None:
    admin = accounts.first_admin()
    new = provider.settings(id="roles", groups_claim="g", groups={"admins": {"role": "admin"}})
    admin.post("/identity-providers", json=new).raise_for_status()
    account = account_of(accounts, sign_in(accounts, provider, "roles"))
    admin.patch(f"/people/{account['user_id']}", json={"role": "reviewer"}).raise_for_status()

    provider.userinfo = {"g": "admins"}
    raised = account_of(accounts, sign_in(accounts, provider, "roles"))
    provider.userinfo = {}
    ended = account_of(accounts, sign_in(accounts, provider, "roles"))
    admin.delete("/identity-providers/roles").raise_for_status()

    assert (raised["role"], ended["role"]) == ("admin", "reviewer")


def test_a_provider_may_admit_only_those_who_are_known(
    accounts: Accounts, provider: OidcProvider
) -> None:
    admin, team = accounts.first_admin(), accounts.team()
    known = {"groups_claim": "g", "groups": {"money": {"team": team}}, "admits_new": False}
    new = provider.settings(id="known", **known)
    admin.post("/identity-providers", json=new).raise_for_status()
    invited = admin.post("/people", json={"name": "Ada"}).json()

    refused = sign_in(accounts, provider, "known")
    link = invited["link_token"]
    account = account_of(accounts, sign_in(accounts, provider, "known", link_token=link))
    again = sign_in(accounts, provider, "known", link_token=link)
    provider.person, provider.userinfo = {"sub": "in-a-group"}, {"g": ["money"]}
    by_group = account_of(accounts, sign_in(accounts, provider, "known"))
    admin.delete("/identity-providers/known").raise_for_status()

    check_problem(refused, 403)
    assert account["user_id"] == invited["person"]["id"]
    check_problem(again, 410)
    assert by_group["user_id"] != account["user_id"]


def test_the_first_administrators_link_is_completed_at_a_provider(
    accounts: Accounts, provider: OidcProvider
) -> None:
    member = account_of(accounts, sign_in(accounts, provider))
    with accounts.database.transaction() as session:
        link = local.make_link(session, LinkPurpose.FIRST_ADMIN, None)

    account = account_of(accounts, sign_in(accounts, provider, link_token=link))
    later = account_of(accounts, sign_in(accounts, provider))

    assert member["user_id"] != "local"
    assert account["user_id"] == later["user_id"] == "local"
    assert "manage_people" in account["permissions"]


def test_somebody_who_is_switched_off_is_not_let_in(
    accounts: Accounts, provider: OidcProvider
) -> None:
    admin = accounts.first_admin()
    account = account_of(accounts, sign_in(accounts, provider))
    admin.patch(f"/people/{account['user_id']}", json={"disabled": True}).raise_for_status()

    check_problem(sign_in(accounts, provider), 403)
    assert last_refusal(accounts)["reason"] == "Person disabled"


def test_providers_are_set_without_showing_their_secret(
    accounts: Accounts, provider: OidcProvider
) -> None:
    admin, (_, member) = accounts.first_admin(), accounts.person()
    path, new = "/identity-providers", provider.settings(id="company")

    made = admin.post(path, json=new)
    listed = admin.get(path)
    stored = "SELECT client_secret FROM identity_providers WHERE id = 'company'"
    with accounts.database.read() as session:
        secret = session.connection().exec_driver_sql(stored).scalar_one()
    ways = accounts.visitor().get("/sign-in-ways").json()["items"]

    assert made.status_code == 201, made.text
    assert made.json()["redirect_url"].endswith("/sign-in/oidc/company/answer")
    assert CLIENT_SECRET not in made.text + listed.text + secret
    assert [one["id"] for one in listed.json()["items"]] == ["fixed", "company"]
    assert [(one["way"], one["id"]) for one in ways] == [
        ("local", None),
        ("oidc", "fixed"),
        ("oidc", "company"),
    ]
    check_problem(admin.post(path, json=new), 409)
    check_problem(admin.patch(f"{path}/fixed", json={"name": "x"}), 409)
    check_problem(admin.patch(f"{path}/company", json={"issuer": "https://a.example"}), 422)
    check_problem(member.get(path), 403)
    admin.delete(f"{path}/company").raise_for_status()
    check_problem(admin.delete(f"{path}/company"), 404)


def test_who_came_by_a_provider_goes_with_it(accounts: Accounts, provider: OidcProvider) -> None:
    admin = accounts.first_admin()
    with OidcProvider() as other:
        admin.post("/identity-providers", json=other.settings(id="other")).raise_for_status()
        person = accounts.visitor(sign_in(accounts, other, "other").json()["token"])

        assert person.get("/account").status_code == 200
        admin.delete("/identity-providers/other").raise_for_status()

    check_problem(person.get("/account"), 401)


def test_the_last_way_in_of_an_administrator_stays(
    stack: Stack, tmp_path: Path, provider: OidcProvider
) -> None:
    with accounts_of(stack, tmp_path, auth="local,oidc", **ALLOWED) as before:
        admin = before.first_admin()
        admin.post("/identity-providers", json=provider.settings(id="only")).raise_for_status()
    with accounts_of(stack, tmp_path, auth="oidc", **ALLOWED) as accounts:
        with accounts.database.transaction() as session:
            link = local.make_link(session, LinkPurpose.FIRST_ADMIN, None)
        answer = sign_in(accounts, provider, "only", link_token=link)
        admin = accounts.visitor(answer.json()["token"])

        removed = admin.delete("/identity-providers/only")
        moved = {"issuer": "https://b.example", "client_secret": "x"}
        changed = admin.patch("/identity-providers/only", json=moved)

        check_problem(removed, 409)
        check_problem(changed, 409)
        assert admin.get("/account").status_code == 200
    with accounts_of(stack, tmp_path, auth="local,oidc", **ALLOWED) as after:
        after.first_admin().delete("/identity-providers/only").raise_for_status()


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("knows this client", {}),
        ("calls itself", {"metadata": {"issuer": "https://elsewhere.example"}}),
        ("does not offer PKCE", {"metadata": {"code_challenge_methods_supported": ["plain"]}}),
        ("none of these algorithms", {"metadata": {"id_token_signing_alg_values_supported": []}}),
        ("must begin with https://", {"metadata": {"token_endpoint": "http://a.example/token"}}),
        ("publishes no keys", {"keys": []}),
        ("HTTP status 404", {"metadata": {"jwks_uri": "{issuer}/nowhere"}}),
    ],
)
def test_a_test_says_what_is_wrong_with_a_provider(
    accounts: Accounts, provider: OidcProvider, words: str, change: JSON
) -> None:
    admin = accounts.first_admin()
    for name, value in json.loads(json.dumps(change).replace("{issuer}", provider.issuer)).items():
        setattr(provider, name, value)
    given = provider.settings()
    body = {name: given[name] for name in ("issuer", "client_id", "client_secret")}

    found = admin.post("/identity-provider-tests", json=body).json()

    assert words in found["detail"]
    assert found["is_usable"] == (not change)


def test_a_test_says_that_a_secret_is_wrong(accounts: Accounts, provider: OidcProvider) -> None:
    body = {"issuer": provider.issuer, "client_id": "colloquy", "client_secret": "wrong"}

    found = accounts.first_admin().post("/identity-provider-tests", json=body).json()

    assert (found["is_usable"], "client secret" in found["detail"]) == (False, True)
