"""Many viewers: a slow one is cut off alone and resumes; compressed or not, they read the same."""

import socket
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from uuid import UUID, uuid4

from redis import Redis

from backend.api.channels import MAX_WAITING
from backend.events.stream import EventStream
from backend.schemas.conversations.sessions import EventContext
from backend.schemas.events import TextDelta
from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import make_session
from tests.integration.turns.events.following import until_end
from tests.stack import Stack, read_events

SENT = MAX_WAITING + 6_000  # what the system's own buffers hold comes on top
BATCH = 100
WORDS = "x" * 700
TEXT = "Many words, one like the other. " * 20


def publish_many(stack: Stack, session_id: str) -> None:
    """Send numbered deltas, faster than anybody reads who does not read."""
    ids = {name: uuid4() for name in ("domain_id", "image_id", "turn_id")}
    context = EventContext(session_id=UUID(session_id), agent_id="agent", **ids)
    with closing(Redis.from_url(stack.redis_url)) as redis:
        stream, message_id = EventStream(redis), uuid4()
        for start in range(0, SENT, BATCH):
            numbers = range(start, start + BATCH)
            texts = [f"{number} {WORDS}" for number in numbers]
            events = [
                TextDelta(context=context, message_id=message_id, text=text) for text in texts
            ]
            stream.publish(UUID(session_id), *events)


def number_of(event: JSON) -> int:
    return int(event["data"]["text"].partition(" ")[0])


def lines_of(connection: socket.socket) -> Iterator[str]:
    """The lines of an answer's body; chunk by chunk, so that its end is seen."""
    with connection.makefile("rb") as answer:
        while answer.readline() != b"\r\n":
            continue
        rest = b""
        while size := int(answer.readline(), 16):
            rest += answer.read(size + 2)[:-2]
            *lines, rest = rest.split(b"\n")
            yield from (line.decode() for line in lines)


def connect_slowly(stack: Stack, session_id: str) -> socket.socket:
    """A viewer that has its place, and reads nothing more."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.connect(("127.0.0.1", stack.api_port))
    path = f"/api/v1/sessions/{session_id}/events"
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    connection.settimeout(60)
    connection.recv(20, socket.MSG_WAITALL)
    return connection


def test_a_viewer_that_does_not_read_is_cut_off_alone_and_resumes(stack: Stack) -> None:
    session_id = make_session(stack)
    with (
        closing(connect_slowly(stack, session_id)) as slow,
        stack.events(session_id) as events,
    ):
        publish_many(stack, session_id)

        assert [number_of(event) for event in islice(events, SENT)] == list(range(SENT))
        begun = list(read_events(lines_of(slow)))
    assert len(begun) < SENT
    with stack.events(session_id, **{"Last-Event-ID": begun[-1]["id"]}) as events:
        rest = list(islice(events, SENT - len(begun)))
    assert [number_of(event) for event in begun + rest] == list(range(SENT))


def test_compressed_and_plain_streams_tell_the_same(stack: Stack) -> None:
    session_id = make_session(stack)
    with (
        stack.events(session_id, **{"Accept-Encoding": "gzip"}) as packed,
        stack.events(session_id, **{"Accept-Encoding": "identity"}) as plain,
    ):
        turn = stack.submit(script({"text": TEXT, "delay": 0.005}), session_id)
        stories = [list(until_end(events, turn["turn_id"])) for events in (packed, plain)]

    assert stories[0] == stories[1]
    assert stories[0][-1]["data"]["turn"]["status"] == "succeeded"


def test_only_who_asks_for_compression_gets_it(stack: Stack) -> None:
    url = f"/sessions/{make_session(stack)}/events"
    for asked, given in (("gzip, br", "gzip"), ("br", None)):
        headers = {"Accept-Encoding": asked}
        with stack.client.stream("GET", url, headers=headers) as response:
            assert response.headers.get("content-encoding") == given
            assert "accept-encoding" in response.headers["vary"].lower()
