"""Signing in with providers that are not ours: Canaille, and oidc-provider where Node is there.

A client follows their redirects and fills in their forms, as a browser would.
"""

from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest

from backend.types import JSON
from tests.integration.people.people import Accounts, accounts_of
from tests.integration.scenes import check_problem
from tests.servers.iam import canaille, register
from tests.servers.node_provider import node_provider
from tests.servers.oidc import answer_of
from tests.stack import Stack

PAGES = "http://127.0.0.1:8501"
REDIRECT = f"{PAGES}/sign-in/oidc/{{}}/answer"
ADA = {
    "user_name": "ada", "password": "correct horse battery", "given_name": "Ada",
    "family_name": "Lovelace", "formatted_name": "Ada Lovelace", "emails": ["ada@example.com"],
    "groups": ["auditors"],
}  # fmt: skip
FIELDS = {"login": "ada", "password": ADA["password"]}
PROVIDERS = ("canaille", "node")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, JSON]]:
    """The real providers by their ids, running; the one in Node where that is there."""
    with canaille(tmp_path_factory.mktemp("canaille"), ADA) as issuer:
        client = register(issuer, REDIRECT.format("canaille"))
        meaning = {"auditors": {"role": "reviewer"}}
        yield {"canaille": client | {"groups_claim": "groups", "groups": meaning}}


@pytest.fixture(scope="module")
def in_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JSON]:
    with node_provider(tmp_path_factory.mktemp("node"), REDIRECT.format("node")) as found:
        yield found


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest, settings: dict[str, JSON]) -> str:
    """The id of one of the providers."""
    if request.param == "node":
        settings["node"] = request.getfixturevalue("in_node")
    return str(request.param)


@pytest.fixture
def accounts(
    stack: Stack, tmp_path: Path, settings: dict[str, JSON], provider: str
) -> Iterator[Accounts]:
    stack.query_and_commit("DELETE FROM failed_sign_ins")  # each refusal is recorded once
    named = {id: one | {"name": id} for id, one in settings.items()}
    ways = {"auth": "local,oidc", "oidc_providers": named, "public_url": PAGES}
    with accounts_of(stack, tmp_path, **ways) as found:
        yield found


class Form(HTMLParser):
    """The first form of a page: where it goes, and its fields with their values."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = dict(given)
        if tag == "form" and self.action is None:
            self.action = attributes.get("action") or ""
        named = attributes.get("name")
        if named and (tag == "input" or attributes.get("value") == "accept"):
            self.fields[named] = attributes.get("value") or ""


def at_provider(url: str, fields: Mapping[str, str] = FIELDS) -> JSON:
    """Sign in and consent where a browser is sent; return with what it is sent back."""
    with httpx.Client(timeout=30) as browser:
        answer = browser.get(url)
        for _ in range(20):
            while answer.is_redirect:
                place = urljoin(str(answer.url), answer.headers["location"])
                if place.startswith(PAGES):
                    return answer_of(place)
                answer = browser.get(place)
            form = Form(answer.text)
            assert form.action is not None, answer.text
            filled = {name: fields.get(name, value) for name, value in form.fields.items()}
            answer = browser.post(urljoin(str(answer.url), form.action), data=filled)
    raise AssertionError(f"it never sends the browser back: {answer.text}")


def begin(accounts: Accounts, provider: str) -> JSON:
    begun = accounts.visitor().post("/sign-ins/oidc", json={"provider": provider})
    assert begun.status_code == 200, begun.text
    return begun.json()


def finish(accounts: Accounts, begun: JSON, provider: str, answer: JSON) -> Any:
    given = {"provider": provider, "browser_key": begun["browser_key"], **answer}
    return accounts.visitor().post("/sign-ins/oidc/answer", json=given)


def account_of(accounts: Accounts, answer: Any) -> JSON:
    assert answer.status_code == 200, answer.text
    return accounts.visitor(answer.json()["token"]).get("/account").json()


def test_a_person_signs_in_and_is_the_same_the_next_time(accounts: Accounts, provider: str) -> None:
    found = []
    for _ in range(2):
        begun = begin(accounts, provider)
        found.append(
            account_of(accounts, finish(accounts, begun, provider, at_provider(begun["url"])))
        )

    first, again = found
    assert first["user_id"] == again["user_id"]
    expected = {
        "canaille": ("Ada Lovelace", "ada@example.com", "reviewer"),
        "node": ("ada of Node", "ada@example.com", "member"),
    }
    assert (first["name"], first["email"], first["role"]) == expected[provider]


def test_an_answer_counts_once(accounts: Accounts, provider: str) -> None:
    begun = begin(accounts, provider)
    answer = at_provider(begun["url"])

    account_of(accounts, finish(accounts, begun, provider, answer))
    check_problem(finish(accounts, begun, provider, answer), 401)


# Not at Canaille: of several codes of one client that wait, its memory finds any.
@pytest.mark.parametrize("provider", ["node"], indirect=True)
def test_a_code_of_another_sign_in_or_provider_signs_nobody_in(
    accounts: Accounts, provider: str
) -> None:
    stolen = at_provider(begin(accounts, provider)["url"])["code"]
    own, mixed_up = begin(accounts, provider), begin(accounts, provider)

    injected = {**at_provider(own["url"]), "code": stolen}
    refused = finish(accounts, own, provider, injected)
    elsewhere = {**at_provider(mixed_up["url"]), "iss": "https://attacker.example"}

    check_problem(refused, 401)
    assert "did not accept the code" in refused.json()["detail"]  # it was for another verifier
    check_problem(finish(accounts, mixed_up, provider, elsewhere), 401)


def test_an_administrators_test_knows_the_right_secret_from_a_wrong_one(
    accounts: Accounts, provider: str, settings: dict[str, JSON]
) -> None:
    admin = accounts.first_admin()
    names = ("issuer", "client_id")
    body = {"id": provider} | {name: settings[provider][name] for name in names}

    right = admin.post("/identity-provider-tests", json=body).json()
    wrong = admin.post("/identity-provider-tests", json=body | {"client_secret": "no"}).json()

    assert right["is_usable"], right
    assert not wrong["is_usable"], wrong
