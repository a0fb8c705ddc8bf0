"""Several servers of one service: which is asked, and what is never sent to a second one."""

import asyncio
from collections.abc import Callable, Iterator

import httpx
import pytest

from backend.addresses import read_servers
from backend.web.replicas import (
    AWAY_SECONDS,
    AsyncReplicaTransport,
    Replicas,
    ReplicaTransport,
)

A, B, C = "http://a:8000", "http://b:8000/colloquy", "https://c"
Ask = Callable[..., httpx.Response]


class Network:
    """Servers that answer, or fail as they are told; `asked` has who was asked for what."""

    def __init__(self) -> None:
        self.failing: dict[str, type[httpx.TransportError]] = {}
        self.asked: list[str] = []
        self.seen: list[httpx.Request] = []
        self.now = 0.0

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.host)
        self.seen.append(request)
        if failure := self.failing.get(request.url.host):
            raise failure("failed")
        return httpx.Response(200, text=request.url.host)


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest, network: Network) -> Ask:
    replicas = Replicas([A, B, C], lambda: network.now)
    inner = httpx.MockTransport(network.answer)

    def sync(method: str, path: str = "x", **options: object) -> httpx.Response:
        transport = ReplicaTransport(replicas, inner)
        with httpx.Client(base_url=f"{A}/api/v1/", transport=transport) as client:
            return client.request(method, path, **options)  # type: ignore[arg-type]

    def in_loop(method: str, path: str = "x", **options: object) -> httpx.Response:
        async def story() -> httpx.Response:
            transport = AsyncReplicaTransport(replicas, inner)
            async with httpx.AsyncClient(base_url=f"{A}/api/v1/", transport=transport) as client:
                return await client.request(method, path, **options)  # type: ignore[arg-type]

        return asyncio.run(story())

    return sync if request.param == "sync" else in_loop


def test_requests_take_turns_and_each_names_the_server_that_it_is_sent_to(
    network: Network, ask: Ask
) -> None:
    answers = [ask("GET", "x?a=%2F").text for _ in range(4)]

    assert answers == ["a", "b", "c", "a"]
    assert [str(one.url) for one in network.seen[:3]] == [
        f"{one}/api/v1/x?a=%2F" for one in (A, B, C)
    ]
    assert [one.headers["host"] for one in network.seen[:3]] == ["a:8000", "b:8000", "c"]


@pytest.mark.parametrize("failure", [httpx.ConnectError, httpx.ConnectTimeout])
def test_what_reaches_no_server_is_sent_to_the_next_which_is_then_asked_first(
    network: Network, ask: Ask, failure: type[httpx.TransportError]
) -> None:
    network.failing = {"a": failure}

    answers = [ask("POST", content=b"once").text for _ in range(3)]

    assert answers == ["b", "b", "c"]
    assert network.asked == ["a", "b", "b", "c"]
    assert network.seen[1].read() == b"once"


def test_one_that_was_away_is_tried_by_one_request_until_it_answers(
    network: Network, ask: Ask
) -> None:
    network.failing = {"a": httpx.ConnectError}
    ask("GET")
    network.now += AWAY_SECONDS
    network.asked.clear()

    for _ in range(6):
        ask("GET")
    assert network.asked.count("a") == 1

    network.failing = {}
    network.now += AWAY_SECONDS
    network.asked.clear()
    for _ in range(6):
        ask("GET")
    assert network.asked.count("a") > 1


def test_where_none_answers_all_are_asked_and_the_last_failure_is_told(
    network: Network, ask: Ask
) -> None:
    network.failing = dict.fromkeys("abc", httpx.ConnectError)

    for _ in range(2):
        with pytest.raises(httpx.ConnectError):
            ask("GET")

    assert sorted(network.asked) == ["a", "a", "b", "b", "c", "c"]


@pytest.mark.parametrize(
    "failure", [httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError, httpx.ReadTimeout]
)
def test_what_may_have_been_carried_out_is_not_sent_again(
    network: Network, ask: Ask, failure: type[httpx.TransportError]
) -> None:
    network.failing = dict.fromkeys("abc", failure)

    for method in ("POST", "PUT", "PATCH", "DELETE"):
        network.asked.clear()
        with pytest.raises(failure):
            ask(method, content=b"x")
        assert len(network.asked) == 1


def test_what_changes_nothing_or_is_done_once_is_sent_again(network: Network, ask: Ask) -> None:
    network.failing = {"a": httpx.ReadError, "b": httpx.RemoteProtocolError}

    read = ask("GET").text
    sent = ask("POST", content=b"once", headers={"Idempotency-Key": "k"})

    assert (read, sent.text) == ("c", "c")
    assert network.seen[-1].read() == b"once"


def test_an_answer_that_does_not_come_is_not_waited_for_again_and_others_are_asked_first(
    network: Network, ask: Ask
) -> None:
    network.failing = {"a": httpx.ReadTimeout}

    with pytest.raises(httpx.ReadTimeout):
        ask("GET")
    for _ in range(6):
        ask("GET")

    assert network.asked.count("a") == 1


def test_a_body_that_was_used_up_is_not_sent_again() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("broken off")

    def pieces() -> Iterator[bytes]:
        yield b"once"

    transport = ReplicaTransport(Replicas([A, C]), httpx.MockTransport(refuse))
    with httpx.Client(transport=transport) as client, pytest.raises(httpx.ReadError):
        client.post(A, content=pieces(), headers={"Idempotency-Key": "k"})


def test_a_list_of_servers_is_read() -> None:
    assert read_servers(f"{A}/, {C},{A}") == (A, C)


@pytest.mark.parametrize(
    "text",
    ["", "a:8000", f"{A},", f"{A} {C}", "ftp://a", "http://", "http://user:word@a", f"{A}?x=1",
     "http://a:99999", "http://a:b", "http://[::1"],
)  # fmt: skip
def test_what_is_no_list_of_servers_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="must be one address or several, comma-separated"):
        read_servers(text)
