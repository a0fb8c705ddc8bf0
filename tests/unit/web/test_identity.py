"""Identity headers count from trusted proxies only, and reach nobody behind the layer."""

from ipaddress import ip_network

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from backend.web.identity import HeaderNames, IdentityHeaders, Proxied, proxied_by

NAMES = HeaderNames.read("Remote-User,Remote-Email,Remote-Name,Remote-Groups")
PROXY = "10.0.0.5"


async def tell(scope: Scope, receive: Receive, send: Send) -> None:
    found = proxied_by(scope)
    left = [name for name in Request(scope).headers if name.startswith("remote-")]
    answer = JSONResponse({"user": found and found.user, "left": left, "person": repr(found)})
    await answer(scope, receive, send)


def ask(peer: str, headers: list[tuple[str, str]]):
    app = IdentityHeaders(tell, [ip_network("10.0.0.0/29")], NAMES)
    sent = [(name, value.encode()) for name, value in headers]
    return TestClient(app, client=(peer, 50_000)).get("/", headers=sent)


@pytest.mark.parametrize("peer", [PROXY, f"::ffff:{PROXY}"])
def test_a_trusted_proxy_names_a_person(peer):
    headers = [
        ("remote-user", "ada"),
        ("REMOTE-EMAIL", "ada@example.com"),
        ("Remote-Name", "Zoë Ä"),
        ("Remote-Groups", "money, checks,, money"),
    ]

    answer = ask(peer, headers).json()

    expected = Proxied("ada", "ada@example.com", "Zoë Ä", ("money", "checks"))
    assert (answer["person"], answer["left"]) == (repr(expected), [])


@pytest.mark.parametrize("peer", ["127.0.0.1", "10.0.0.8", "::1", "testclient", ""])
def test_what_others_say_of_themselves_is_removed(peer):
    answer = ask(peer, [("Remote-User", "ada"), ("remote-groups", "admins")]).json()

    assert (answer["user"], answer["left"]) == (None, [])


def test_a_proxy_that_names_nobody_lets_nobody_in():
    assert ask(PROXY, [("Remote-User", " "), ("Remote-Groups", "admins")]).json()["user"] is None


@pytest.mark.parametrize(
    "headers",
    [
        [("Remote-User", "mallory"), ("remote-user", "ada")],
        [("Remote-User", "ada"), ("Remote-Groups", "a"), ("Remote-Groups", "admins")],
        [("Remote-User", "a" * 201)],
    ],
    ids=["two people", "two lists", "too long"],
)
def test_what_a_proxy_says_unclearly_is_refused(headers):
    answer = ask(PROXY, headers)

    assert (answer.status_code, "the header Remote-" in answer.text) == (400, True)
