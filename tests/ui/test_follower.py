"""The page's end of the event stream: what it reads, what it passes over, where it goes on."""

from types import SimpleNamespace
from uuid import uuid4

import httpx
import orjson
import pytest

from backend.schemas.events import TextDelta
from backend.schemas.sessions import EventContext
from ui.features.chat.events import Follower

IDS = {name: uuid4() for name in ("session_id", "image_id", "turn_id")}
CONTEXT = EventContext(domain_id=None, agent_id="Analyst", **IDS)
DELTA = TextDelta(context=CONTEXT, message_id=uuid4(), text="a\u2028b 🙂")


def data_of(event):
    return event.model_dump_json().encode()


def changed(event, **fields):
    return orjson.dumps(orjson.loads(data_of(event)) | fields)


def frame(place, name, data):
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (place.encode(), name.encode(), data)


class Cut(httpx.SyncByteStream):
    """An answer in pieces, after which the connection breaks."""

    def __init__(self, body, size):
        self.pieces = [body[i : i + size] for i in range(0, len(body), size)]

    def __iter__(self):
        yield from self.pieces
        raise httpx.ReadError("broken")


def follow(*answers):
    """All events of these answers, one after the other, and the places that were asked for."""
    asked, left = [], iter(answers)

    def answer(request):
        asked.append(request.headers.get("Last-Event-ID"))
        return next(left, httpx.Response(404))

    with httpx.Client(transport=httpx.MockTransport(answer), base_url="http://api") as http:
        events = []
        with Follower(SimpleNamespace(http=http), IDS["session_id"]) as follower:
            while not follower.has_ended:
                events += follower.take(wait=5.0, join=0.01)
    return events, asked


def stream(body, size=1000):
    return httpx.Response(
        200, headers={"content-type": "text/event-stream"}, stream=Cut(body, size)
    )


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_events_are_read_in_pieces_of_any_size(size):
    body = b": keep-alive\n\n" + frame("7-0.1", "text_delta", data_of(DELTA))

    events, asked = follow(stream(body + b": keep-alive\n\n", size))

    assert events == [DELTA]
    assert asked == [None, "7-0.1"]


def test_what_is_not_known_or_not_readable_is_passed_over(caplog):
    body = (
        frame("1-0.0", "not_known_yet", b"{}")
        + frame("2-0.0", "text_delta", b"{")
        + frame("3-0.0", "text_delta", changed(DELTA, message_id="secret"))
        + frame("4-0.0", "text_delta", changed(DELTA, known_later=1))
    )

    events, asked = follow(stream(body))

    assert events == [DELTA]
    assert asked == [None, "4-0.0"]
    assert caplog.text.count("passed over") == 2
    assert "secret" not in caplog.text


def test_what_broke_off_within_an_event_is_asked_for_again():
    first = frame("1-0.0", "text_delta", data_of(DELTA))
    half = frame("2-0.0", "text_delta", data_of(DELTA))[:-9]

    events, asked = follow(
        stream(first + half), stream(frame("2-0.0", "text_delta", data_of(DELTA)))
    )

    assert events == [DELTA, DELTA]
    assert asked == [None, "1-0.0", "2-0.0"]
