"""Each request has one id: its own if it brings a plain one, or a new one."""

import httpx
import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from backend.addresses import Address
from backend.logs.fields import only_fields, request_id
from backend.web.protection import protect
from backend.web.request_ids import HEADER, TRACEPARENT, naming
from ui.client import Client

ADDRESS = Address("127.0.0.1", 8000)


async def tell(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse({"request": request_id(), "passed_on": dict(naming())})(scope, receive, send)


def ask(*given: str, host: str = "127.0.0.1:8000"):
    headers = [(HEADER, value.encode()) for value in given]
    client = TestClient(protect(tell, ADDRESS), base_url=f"http://{host}")
    return client.get("/", headers=headers)


@pytest.mark.parametrize("given", ["7", "f" * 100, "0af7651916cd43dd8448eb21", "a-b_c.d:e+/f=@"])
def test_a_plain_id_is_kept_and_passed_on_and_returned(given):
    answer = ask(given)

    assert answer.json() == {"request": given, "passed_on": {HEADER: given}}
    assert answer.headers[HEADER] == given


@pytest.mark.parametrize(
    "given",
    [(), ("",), ("f" * 101,), ("a b",), ("a\tb",), ("ä",), ('a"',), ("<b>",), ("one", "two")],
    ids=repr,
)
def test_any_other_is_replaced_by_a_new_one(given):
    first, second = ask(*given), ask(*given)

    found = {answer.json()["request"] for answer in (first, second)}
    assert len(found) == 2 and found.isdisjoint(given)
    assert all(len(one) == 32 and one.isalnum() for one in found)
    assert first.headers[HEADER] == first.json()["request"]


PLACE = f"00-{'a' * 32}-{'b' * 16}-01"


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [((PLACE,), PLACE), ((), None), ((PLACE, PLACE), None), (("00-1-2-01",), None)],
)
def test_the_place_in_a_trace_is_passed_on_and_nothing_else(given, passed_on):
    headers = [(HEADER, "7"), *((TRACEPARENT, one) for one in given)]

    answer = TestClient(protect(tell, ADDRESS), base_url="http://127.0.0.1:8000").get(
        "/", headers=headers
    )

    assert answer.json()["passed_on"].get(TRACEPARENT) == passed_on


def test_what_comes_through_a_socket_is_not_part_of_the_trace_that_opened_it():
    async def say(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": str(sorted(naming()))})

    app = protect(say, ADDRESS)
    headers = {HEADER: "7", TRACEPARENT: PLACE, "Host": "127.0.0.1:8000"}
    with TestClient(app).websocket_connect("ws://127.0.0.1:8000/", headers=headers) as socket:
        assert socket.receive_text() == str([HEADER])


def test_a_refused_request_has_its_id_as_well():
    answer = ask("r1", host="evil.example")

    assert (answer.status_code, answer.headers[HEADER]) == (421, "r1")


def test_outside_of_a_request_nothing_is_passed_on():
    with only_fields():
        assert naming() == {}


def test_pages_name_their_run_to_the_api():
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get(HEADER))
        return httpx.Response(204)

    client = Client(transport=httpx.MockTransport(answer))
    with only_fields(request="run 1"):
        client.send("GET", "server")
    client.send("GET", "server")

    assert asked == ["run 1", None]
