"""The relay of the API's events: what a tab is told, and what waits for one that does not read."""

import asyncio
import json
import random
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.unit.ui.test_conversation_rules import in_node, modules
from ui import async_api
from ui.async_api import AsyncApi
from ui.cookies import BEGINNING, ON_LOOPBACK
from ui.relay import follower, route
from ui.relay.outbox import Outbox, Told, Writer, state
from ui.sign_in.gate import ENDED

TOKEN = f"{BEGINNING}of-the-person"
CONTEXT = {"session_id": "s", "domain_id": "d", "image_id": "i", "agent_id": "a", "turn_id": "t"}
KEPT = {"agent_id": "a", "turn_id": "t"}


def delta(place: str, text: str, message: str = "m", event: str = "text_delta") -> str:
    data = {"context": CONTEXT, "message_id": message, "text": text}
    return f"id: {place}\nevent: {event}\ndata: {json.dumps(data)}\n\n"


class Stream(httpx.AsyncByteStream):
    """An answer that brings these pieces; then it ends, fails, or stays open."""

    def __init__(self, pieces: list[str], end: str) -> None:
        self._pieces, self._end = pieces, end

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece.encode()
        if self._end == "fails":
            raise httpx.ReadError("broken off")
        if self._end == "stays":
            await asyncio.Event().wait()


class Api(httpx.AsyncBaseTransport):
    """An API whose answers are given by session, one for each time that it is asked."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.answers: dict[str, list[Any]] = {}

    def says(self, session: str, *pieces: str, end: str = "stays") -> None:
        headers = {"Content-Type": "text/event-stream"}
        answer = httpx.Response(200, headers=headers, stream=Stream(list(pieces), end))
        self.answers.setdefault(session, []).append(answer)

    def refuses(self, session: str, status: int) -> None:
        self.answers.setdefault(session, []).append(httpx.Response(status))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answers = self.answers.get(request.url.path.split("/")[-2], [])
        if not answers:
            raise httpx.ConnectError("away")
        return answers.pop(0)


@pytest.fixture
def api(monkeypatch: Any) -> Api:
    api = Api()
    monkeypatch.setattr(async_api, "_transport", lambda: api)
    monkeypatch.setattr(follower, "RETRY_SECONDS", (0.001,))
    return api


@pytest.fixture
def tab(api: Api) -> Iterator[Any]:
    app = Starlette(routes=[route.route(AsyncApi())])
    client = TestClient(app, cookies={ON_LOOPBACK: TOKEN})
    with client, client.websocket_connect(route.PATH) as socket:
        yield socket


def hear(tab: Any, most: int) -> list[Any]:
    """Return the first so many things that a tab is told."""
    told: list[Any] = []
    while len(told) < most:
        told += tab.receive_json()
    return told


def test_a_tab_is_told_what_the_api_says_as_it_says_it(api, tab):
    row = '{"message": {"big": 12345678901234567890, "word": "a\\u2028b"}, "new": [1.50]}'
    api.says("s1", f": connected\n\nid: 5-0.1\nevent: message_added\ndata: {row}\n\n")

    tab.send_json({"follow": "s1", "after": "4-0.1.ab-2"})
    written = "".join(tab.receive_text() for _ in range(1))

    back, event = written[1:].split("},", 1)
    assert json.loads(back + "}") == {"session": "s1", "state": "back", "after": "4-0.1.ab-2"}
    assert event == f'{{"session":"s1","event":"message_added","data":{row},"id":"5-0.1"}}]'
    (asked,) = api.asked
    assert asked.url.path == "/api/v1/sessions/s1/events"
    assert asked.headers["last-event-id"] == "4-0.1.ab-2"
    assert asked.headers["authorization"] == "Bearer " + TOKEN
    assert asked.headers["colloquy-unattended"] == "true"


def test_pieces_of_a_message_are_joined_and_say_once_what_all_of_them_say(api, tab):
    api.says(
        "s1",
        delta("1-0.1", "Hel") + delta("2-0.1", "lo ") + delta("3-0.1", "Hm", event="thinking_delta")
        + delta("4-0.1", "you") + delta("5-0.1", "!", "other"),
    )  # fmt: skip

    tab.send_json({"follow": "s1", "after": None})
    back, *told = hear(tab, 5)

    assert back == {"session": "s1", "state": "back", "after": None}
    assert [(one["id"], one["event"], one["data"]["text"]) for one in told] == [
        ("2-0.1", "text_delta", "Hello "),
        ("3-0.1", "thinking_delta", "Hm"),
        ("4-0.1", "text_delta", "you"),
        ("5-0.1", "text_delta", "!"),
    ]
    assert told[0]["data"] == {"context": KEPT, "message_id": "m", "text": "Hello "}


def test_a_stream_that_breaks_off_goes_on_after_the_last_event(api, tab):
    api.says("s1", delta("1-0.1", "one "), end="fails")
    api.refuses("s1", 503)
    api.refuses("s1", 429)
    api.says("s1", delta("2-0.1", "two"))

    tab.send_json({"follow": "s1", "after": None})
    told = hear(tab, 5)

    assert [one.get("state") or one["data"]["text"] for one in told] == [
        "back", "one ", "away", "back", "two",
    ]  # fmt: skip
    assert told[3]["after"] == "1-0.1"
    assert "last-event-id" not in api.asked[0].headers
    assert [one.headers["last-event-id"] for one in api.asked[1:]] == ["1-0.1"] * 3


def test_a_stream_that_was_cut_off_goes_on_without_a_word_of_an_outage(api, tab):
    api.says("s1", delta("1-0.1", "one "), end="ends")
    api.says("s1", delta("2-0.1", "two"))

    tab.send_json({"follow": "s1", "after": None})

    told = hear(tab, 4)
    assert [one.get("state") or one["data"]["text"] for one in told] == [
        "back", "one ", "back", "two",
    ]  # fmt: skip


def test_a_place_that_the_api_does_not_know_is_given_up(api, tab):
    api.refuses("s1", 422)
    api.says("s1")

    tab.send_json({"follow": "s1", "after": "of-another-service"})

    assert hear(tab, 2)[-1] == {"session": "s1", "state": "back", "after": None}
    assert "last-event-id" not in api.asked[-1].headers


@pytest.mark.parametrize("how", ["refused", "ended"])
def test_a_session_that_is_gone_is_told_and_others_go_on(api, tab, how):
    ended = {"status": 404, "title": "Gone", "detail": "It was deleted."}
    if how == "refused":
        api.refuses("s1", 404)
    else:
        api.says("s1", f"event: ended\ndata: {json.dumps(ended)}\n\n")
    api.says("s2", delta("1-0.1", "still here"))

    tab.send_json({"follow": "s1", "after": None})
    while (told := hear(tab, 1))[-1]["state"] != "gone":
        pass
    tab.send_json({"follow": "s2", "after": None})

    assert told[-1] == {"session": "s1", "state": "gone"}
    assert hear(tab, 2)[-1]["data"]["text"] == "still here"


@pytest.mark.parametrize("how", ["refused", "ended"])
def test_the_socket_closes_with_the_sign_in(api, tab, how):
    ended = {"status": 401, "title": "Signed out", "detail": "Sign in."}
    if how == "refused":
        api.refuses("s1", 401)
    else:
        api.says("s1", f"event: ended\ndata: {json.dumps(ended)}\n\n")

    tab.send_json({"follow": "s1", "after": None})

    with pytest.raises(WebSocketDisconnect) as closed:
        while True:
            tab.receive_json()
    assert closed.value.code == 4401


def test_events_that_these_pages_do_not_know_are_left_out(api, tab):
    api.says("s1", "id: 1-0\nevent: of_tomorrow\ndata: {}\n\n" + delta("2-0", "known"))

    tab.send_json({"follow": "s1", "after": None})

    assert [one.get("event") for one in hear(tab, 2)] == [None, "text_delta"]


def test_a_session_that_a_tab_has_left_tells_it_nothing(api, tab):
    api.says("s1", delta("1-0", "first"))
    api.says("s1", delta("1-0", "again"))
    api.says("s2", delta("1-0", "other"))

    tab.send_json({"follow": "s1", "after": None})
    assert hear(tab, 2)[-1]["data"]["text"] == "first"
    tab.send_json({"leave": "s1"})
    tab.send_json({"leave": "never-followed"})
    tab.send_json({"follow": "s2", "after": None})
    assert {one["session"] for one in hear(tab, 2)} == {"s2"}
    tab.send_json({"follow": "s1", "after": None})

    assert hear(tab, 2)[-1]["data"]["text"] == "again"


@pytest.mark.parametrize(
    "sent",
    ["", "[]", "{}", "no json", '{"follow": "../people"}', '{"follow": "a/b", "after": null}',
     '{"follow": "s1", "after": "a\\nb"}', '{"follow": "s1", "leave": "s1"}', '{"follow": 1}',
     '{"leave": "s1", "x": 1}', '{"follow": "%s"}' % ("s" * 2_000), b'{"follow": "s1"}'],
)  # fmt: skip
def test_what_no_page_of_ours_sends_ends_the_connection(api, tab, sent):
    tab.send({"type": "websocket.receive", "text" if isinstance(sent, str) else "bytes": sent})

    with pytest.raises(WebSocketDisconnect) as closed:
        tab.receive_json()
    assert closed.value.code == 1008
    assert api.asked == []


def test_a_tab_follows_a_bounded_number_of_sessions(api, tab):
    for number in range(route.MOST_FOLLOWED):
        api.says(f"s{number}")
        tab.send_json({"follow": f"s{number}", "after": None})
    assert len(hear(tab, route.MOST_FOLLOWED)) == route.MOST_FOLLOWED

    tab.send_json({"follow": "one-more", "after": None})

    with pytest.raises(WebSocketDisconnect) as closed:
        tab.receive_json()
    assert closed.value.code == 1008


# What waits.


def in_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


def piece(text: str, place: str = "1-0", session: str = "s", data: str = '{"m":1}') -> Told:
    return Told(session, place, "text_delta", data, text)


@in_loop
async def test_pieces_of_two_sessions_are_joined_though_they_alternate():
    box = Outbox()
    for number in range(4):
        await box.put(piece(f"a{number}", f"{number}-0", "a"))
        await box.put(piece(f"b{number}", f"{number}-0", "b"))

    told = await box.take()

    assert [(one.session, one.id, one.text) for one in told] == [
        ("a", "3-0", "a0a1a2a3"),
        ("b", "3-0", "b0b1b2b3"),
    ]


@in_loop
async def test_nothing_is_joined_across_what_came_between():
    box = Outbox()
    for told in (piece("one"), Told("s", "2-0", "reset"), piece("two"), piece("x", data="{}")):
        await box.put(told)

    assert [one.text for one in await box.take()] == ["one", None, "two", "x"]


@in_loop
async def test_who_does_not_read_makes_the_api_wait_and_gets_all_in_the_end():
    box = Outbox(most=1_000)
    sent = [str(number) for number in range(5_000)]

    async def fill() -> None:
        for number, text in enumerate(sent):
            await box.put(piece(text, data=f'{{"m":{number}}}'))

    filling = asyncio.create_task(fill())
    await asyncio.sleep(0.01)
    waiting, heard = 0, []
    while len(heard) < len(sent):
        batch = await box.take()
        waiting = max(waiting, len(batch))
        heard += [one.text for one in batch]
        await asyncio.sleep(0)

    await filling
    assert waiting < 20
    assert heard == sent


@in_loop
async def test_what_waits_of_a_session_that_was_left_is_forgotten():
    box = Outbox(most=200)
    await box.put(piece("x" * 300, session="left"))
    late = asyncio.create_task(box.put(piece("here", session="stays")))
    await asyncio.sleep(0)
    assert not late.done()

    box.drop("left")
    await late

    assert [one.text for one in await box.take()] == ["here"]


def test_a_batch_is_json_whatever_the_text():
    text = 'a "quoted" \\ \n\u2028\x00 <b>ü</b> 🙂'

    (one,) = json.loads(Writer().write([piece(text, data='{"context":{},"message_id":"m"}')]))

    assert one["data"] == {"context": {}, "message_id": "m", "text": text}


def test_a_piece_that_goes_on_with_what_was_told_is_told_in_little_more_than_its_text():
    writer = Writer()
    of_m, of_n = '{"context":{},"message_id":"m"}', '{"context":{},"message_id":"n"}'

    told = [
        writer.write([piece("One ", "1700000000000-0.4", data=of_m)]),
        writer.write([piece("two ", "1700000000033-0.4", data=of_m)]),
        writer.write([piece("three", "1700000000050-1.4", data=of_m)]),
        writer.write([piece("!", "1700000000060-1.4", data=of_n)]),
        writer.write([state("s", "away"), piece("?", "1700000000061-1.4", data=of_n)]),
    ]

    assert told[1] == '[[33,"two "]]'
    assert all('"message_id"' in one for one in (*told[2:], told[0]))


def any_told(chance: random.Random) -> Iterator[Told]:
    at = 1_700_000_000_000
    for _ in range(2_000):
        at += chance.choice([0, 1, 30])
        place = f"{at}-{chance.choice([0] * 9 + [1])}.4"
        session = chance.choice("ssst")
        data = f'{{"context":{{}},"message_id":"{chance.choice("mmmmmn")}"}}'
        kind = chance.choice(
            ["text_delta", "text_delta", "text_delta", "thinking_delta", "reset", ""]
        )
        if not kind:
            yield state(session, "back", after=place)
        elif kind == "reset":
            yield Told(session, place, kind, '{"reason":"x"}')
        else:
            yield Told(session, place, kind, data, chance.choice(["a", "\n", "🙂", '"', ""]))


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
def test_the_browser_reads_what_is_told_whatever_the_order():
    told = list(any_told(random.Random(5)))
    whole = [one for each in told for one in json.loads(Writer().write([each]))]
    writer = Writer()
    batches = [json.loads(writer.write(told[at : at + 7])) for at in range(0, len(told), 7)]
    assert sum(isinstance(one, list) for batch in batches for one in batch) > 100

    read = in_node(
        modules("events")
        + """
let before = null;
const whole = (one) => (before = Array.isArray(one) ? events.continued(before, one) : one);
const read = given.flat().map(whole);
console.log(JSON.stringify(read));
""",
        batches,
    )

    assert read == whole


def test_a_page_of_another_person_follows_nothing(api):
    client = TestClient(Starlette(routes=[route.route(AsyncApi())]))
    signed_in = {"x-colloquy-person": "ada"}  # as the gate says

    with (
        client,
        client.websocket_connect(f"{route.PATH}?person=ben", headers=signed_in) as socket,
        pytest.raises(WebSocketDisconnect) as closed,
    ):
        socket.receive_json()

    assert closed.value.code == ENDED
    assert not api.asked
