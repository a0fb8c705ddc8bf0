"""The clients of B9, each of which repeats one operation."""

import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from uuid import UUID

import orjson
import psycopg2
from redis import Redis
from rq import Queue

from backend.auth.scope import LOCAL_USER
from backend.bootstrap import bootstrap
from backend.settings import Settings
from backend.turns.process.services import Services
from backend.turns.submit.service import Submission, submit
from benchmarks.ground import plain_url
from benchmarks.load import Act
from benchmarks.peers.rq_peer import do_nothing

ROW = "x" * 1_000
QUESTION = "How did the cost centres of the north do against their budgets in the last quarter?"
QUEUE = "enqueued"


@contextmanager
def committing(url: str, numbers: Sequence[int], count: int) -> Iterator[list[Act]]:
    """One connection each; every commit inserts a row of 1 KB."""
    with ExitStack() as parts:
        acts: list[Act] = []
        for _ in numbers:
            connection = parts.enter_context(closing(psycopg2.connect(plain_url(url))))
            connection.autocommit = True
            cursor = connection.cursor()
            acts.append(partial(_commit, cursor))
        yield acts


@contextmanager
def submitting(
    settings: Settings, sessions: Sequence[str], numbers: Sequence[int], count: int
) -> Iterator[list[Act]]:
    """The services of one API process, with its connections; one thread per client."""
    services = bootstrap(settings, threads=len(numbers))
    acts: list[Act] = [
        partial(_submit, services, iter(sessions[number::count])) for number in numbers
    ]
    with ThreadPoolExecutor(len(numbers) or 1) as clients:
        list(clients.map(lambda act: act(), acts))
    yield acts
    services.announcer.settle()
    services.redis.close()
    services.database.close()


@contextmanager
def posting(
    port: int, sessions: Sequence[str], numbers: Sequence[int], count: int
) -> Iterator[list[Act]]:
    """One persistent connection each, with clients that cost next to nothing themselves."""
    with ExitStack() as parts:
        acts: list[Act] = []
        for number in numbers:
            wire = parts.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            acts.append(partial(_post, wire, iter(sessions[number::count])))
        yield acts


@contextmanager
def enqueueing(url: str, numbers: Sequence[int], count: int) -> Iterator[list[Act]]:
    """RQ's own enqueue, with RQ's defaults."""
    with closing(Redis.from_url(url)) as redis:
        queue = Queue(QUEUE, connection=redis)
        yield [partial(_enqueue, queue) for _ in numbers]


def _commit(cursor: psycopg2.extensions.cursor) -> str:
    cursor.execute("INSERT INTO commits (row) VALUES (%s)", (ROW,))
    return ""


def _submit(services: Services, sessions: Iterator[str]) -> str:
    return str(submit(services, LOCAL_USER, Submission(QUESTION, UUID(next(sessions)))).id)


def _enqueue(queue: Queue) -> str:
    return str(queue.enqueue(do_nothing).id)


def _post(wire: socket.socket, sessions: Iterator[str]) -> str:
    body = orjson.dumps({"message": QUESTION, "session_id": next(sessions)})
    wire.sendall(HEAD % len(body) + body)
    answer = b""
    while not answer.endswith(b"}"):  # an object without nested ones
        answer += wire.recv(65536)
    head, _, told = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 202 "), head
    return str(orjson.loads(told)["turn_id"])


HEAD = (
    b"POST /api/v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Prefer: respond-async\r\nContent-Length: %d\r\n\r\n"
)
