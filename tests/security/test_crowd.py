"""A crowd of streams and long reads, all at once: the API's health is told meanwhile."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from backend.errors.base import TooManyStreams
from tests.integration.api.requests.test_waits import figure, wait_for_figure
from tests.integration.scenes import make_session
from tests.processes import ROOT
from tests.stack import Stack

pytestmark = [pytest.mark.security, pytest.mark.timeout(400)]

STREAMS = 1_000
LET_IN = 600
READS = 100
MOST_HEALTH_SECONDS = 2.0  # one is promised; the machine may be busy with other tests


class Health(threading.Thread):
    """Asks /healthz all the time; `slowest` is the longest that it waited."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(daemon=True)
        self.slowest = 0.0
        self.statuses: Counter[int] = Counter()
        self._url = f"{stack.base_url}/healthz"
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            started = time.monotonic()
            try:
                self.statuses[httpx.get(self._url, timeout=60).status_code] += 1
            except httpx.HTTPError:
                self.statuses[0] += 1
            self.slowest = max(self.slowest, time.monotonic() - started)

    def end(self) -> None:
        self._ended.set()
        self.join()


def test_health_is_told_while_a_thousand_streams_and_long_reads_are_opened(
    own_stack: Stack,
) -> None:
    session_id = make_session(own_stack)
    own_stack.chat("hello", session_id)
    health = Health(own_stack)
    health.start()

    with crowd(own_stack, session_id) as answers:
        streams = Counter(status for path, status, _ in answers if path.endswith("/events"))
        reads = Counter(status for path, status, _ in answers if not path.endswith("/events"))
        refusals = {detail for _, status, detail in answers if status == 429}
        health.end()
        assert figure(own_stack, "colloquy_event_streams") == LET_IN

    assert set(health.statuses) == {200}
    assert health.slowest < MOST_HEALTH_SECONDS
    assert streams == {200: LET_IN, 429: STREAMS - LET_IN}
    assert reads == {200: READS}
    assert refusals == {TooManyStreams.__doc__}
    wait_for_figure(own_stack, "colloquy_event_streams", 0)
    assert own_stack.chat("hello", session_id)["status"] == "succeeded"


@contextmanager
def crowd(stack: Stack, session_id: str) -> Iterator[list[tuple[str, int, str]]]:
    """All of them at once, from a process of their own; gives how each was answered."""
    numbers = [str(stack.api_port), session_id, str(STREAMS), str(READS)]
    command = [sys.executable, "-m", "tests.security.crowd", *numbers]
    client = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert client.stdin and client.stdout
    try:
        yield json.loads(client.stdout.readline())
    finally:
        client.stdin.close()
        try:
            client.wait(timeout=20)
        except subprocess.TimeoutExpired:
            client.kill()
            client.wait()
        client.stdout.close()
