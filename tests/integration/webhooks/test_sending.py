"""One request: bounded in time and size, without redirects or cookies, to allowed addresses."""

import asyncio
from collections.abc import Iterator

import pytest

from backend.outgoing.policy import Outgoing
from backend.webhooks import sending
from backend.webhooks.sending import Answer, open_sender, send
from tests.servers.receiver import Receiver

ANYWHERE = Outgoing(permits_inside=True)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def sent(*urls: str, outgoing: Outgoing = ANYWHERE) -> list[Answer]:
    async def send_all() -> list[Answer]:
        async with open_sender(outgoing) as client:
            return [await send(client, url, {"webhook-id": "one"}, b"{}") for url in urls]

    return asyncio.run(send_all())


@pytest.mark.parametrize("way", ["hang", "drip"])
def test_a_receiver_that_does_not_end_is_left(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(sending, "ANSWER_SECONDS", 0.5)
    receiver.answer = lambda _: way

    (answer,) = sent(receiver.url)

    assert (answer.status, answer.text) == (None, "No answer within 0 seconds.")
    assert 0.4 < answer.seconds < 5


def test_of_an_answer_only_the_beginning_is_read(receiver: Receiver) -> None:
    receiver.answer = lambda _: "flood"

    (answer,) = sent(receiver.url)

    assert (answer.status, answer.text) == (200, "x" * 500)


def test_a_closed_connection_is_no_answer(receiver: Receiver) -> None:
    receiver.answer = lambda _: "close"

    (answer,) = sent(receiver.url)

    assert answer.status is None and answer.text.startswith("The connection failed: ")


def test_redirects_are_not_followed_and_cookies_not_kept(receiver: Receiver) -> None:
    headers = {"Location": f"{receiver.url}/elsewhere", "Set-Cookie": "who=me; Path=/"}
    receiver.answer = lambda _: {"status": 307, "headers": headers}

    answers = sent(receiver.url, f"{receiver.url}/again")

    assert {(one.status, one.text, one.is_ok) for one in answers} == {
        (307, "Redirects are not followed.", False)
    }
    assert [one.path for one in receiver.got] == ["/", "/again"]
    assert not [one for one in receiver.got if "cookie" in one.headers]


def test_an_address_inside_is_asked_nothing(receiver: Receiver) -> None:
    by_name = receiver.url.replace("127.0.0.1", "localhost")

    answers = sent(receiver.url, by_name, outgoing=Outgoing())

    assert {one.status for one in answers} == {None}
    assert all("does not allow its address" in one.text for one in answers)
    assert receiver.got == []
    assert sent(receiver.url)[0].is_ok
