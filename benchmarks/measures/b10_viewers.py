"""B10: live events to 500 viewers of one session: CPU per delivered event, and delivery delay.

Over HTTP: real viewers on server-sent events of the real API process, whose CPU time is counted,
excluding publishing. In the process: the same fan-out up to each viewer's bytes, without HTTP.
Peer: one reading connection to Redis per viewer (XREAD with BLOCK), with and without HTTP.
The events are those of a turn; a turn of one agent has about 30 a second, a busy session 100.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import httpx
import psutil
from redis import Redis

from backend.events.stream import EventStream
from backend.schemas.conversations.sessions import EventContext
from backend.schemas.events import TextDelta
from benchmarks.clients.b10_crowd import Heard, crowd, digest_of, text_of, watch_over_http
from benchmarks.clients.b10_in_process import watch_ours, watch_peer
from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from tests.processes import free_port
from tests.stack import Stack

VIEWERS = 500
ROUNDS = 3
SECONDS = 3.0
RATES = (100, 10)


@dataclass
class Runs:
    """Repeated runs of one case: CPU microseconds per delivery, and the delays."""

    cpu: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)

    def add(self, heard: Heard, cpu_seconds: float, texts: list[bytes]) -> None:
        """Add a run. Raise AssertionError unless each viewer received each event once, in order."""
        assert len(heard.digests) == VIEWERS
        assert set(heard.digests) == {digest_of(texts)}
        assert len(heard.late) == VIEWERS * len(texts)
        self.cpu.append(cpu_seconds / len(heard.late) * 1e6)
        self.late += heard.late

    @property
    def median_cpu(self) -> float:
        """Microseconds per event and viewer."""
        return statistics.median(self.cpu)

    def percentile(self, share: float) -> float:
        """Return the milliseconds within which that share of the events arrived."""
        return sorted(self.late)[int(len(self.late) * share)] * 1e3

    @property
    def cpu_text(self) -> str:
        """Median and spread."""
        low, high = min(self.cpu), max(self.cpu)
        return f"{number(self.median_cpu)} µs ({number(low)} to {number(high)})"

    @property
    def late_text(self) -> str:
        """The median and the 99th percentile."""
        return f"p50 {number(self.percentile(0.5))} ms, p99 {number(self.percentile(0.99))} ms"


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        services = parts.enter_context(_services(ground))
        for rate in RATES:
            runs = {name: Runs() for name in services}
            for _ in range(ROUNDS):
                for name, service in services.items():
                    _run(service, rate, ground.redis_url, runs[name])
            yield from _figures(f"over HTTP, {rate} events/s", runs["ours"], runs["peer"])
        session_id = services["ours"].session_id
        for rate in RATES:
            ours, peer = Runs(), Runs()
            where = (services["ours"].database_url, ground.redis_url, session_id)
            for _ in range(ROUNDS):
                _run_in_process(watch_ours, where, rate, ours)
                _run_in_process(watch_peer, where, rate, peer)
            yield from _figures(f"in the process, {rate} events/s", ours, peer)


def _figures(where: str, ours: Runs, peer: Runs) -> Iterator[Figure]:
    what = f"{VIEWERS} viewers {where}: "
    yield Figure(
        "B10",
        what + "CPU per delivered event",
        ours.cpu_text,
        f"one XREAD per viewer: {peer.cpu_text}",
        ours.median_cpu,
        Target(10, 3, " µs"),
    )
    yield Figure(
        "B10",
        what + "delay, p99",
        ours.late_text,
        f"one XREAD per viewer: {peer.late_text}",
        ours.percentile(0.99),
        Target(100, 50, " ms"),
    )


@dataclass(frozen=True)
class _Service:
    """A process that serves the events of one session."""

    process: psutil.Process
    port: int
    path: str
    session_id: UUID
    database_url: str = ""


@contextmanager
def _services(ground: Ground) -> Iterator[dict[str, _Service]]:
    stack = Stack(ground.new_database(), ground.redis_url, ground.home)
    with ExitStack() as parts:
        parts.callback(stack.__exit__)
        stack.start_api()
        assert stack.api
        session_id = UUID(stack.client.post("/sessions", json={}).json()["id"])
        port = free_port()
        peer = stack.start(
            "-m", "benchmarks.peers.b10_peer", "--port", str(port), "--redis", ground.redis_url
        )
        stack.others.append(peer)
        stack.wait_for(lambda: _answers(port), "the peer does not answer")
        yield {
            "ours": _Service(
                psutil.Process(stack.api.pid),
                stack.api_port,
                f"/api/v1/sessions/{session_id}/events",
                session_id,
                stack.database_url,
            ),
            "peer": _Service(psutil.Process(peer.pid), port, f"/events/{session_id}", session_id),
        }


def _run(service: _Service, rate: int, redis_url: str, runs: Runs) -> None:
    """Run once with new viewers; the run counts only if all of them received everything."""
    with crowd(watch_over_http, service.port, service.path, VIEWERS) as viewers:
        before = cpu_seconds(service.process)
        texts = _publish(redis_url, service.session_id, rate)
        heard = viewers.wait()
        used = cpu_seconds(service.process) - before
    runs.add(heard, used, texts)


def _run_in_process(
    watch: Callable[..., None], where: tuple[str, str, UUID], rate: int, runs: Runs
) -> None:
    """Run the same without HTTP, counting the CPU time of the viewers' own process."""
    database_url, redis_url, session_id = where
    with crowd(watch, database_url, redis_url, session_id, VIEWERS) as viewers:
        texts = _publish(redis_url, session_id, rate)
        heard = viewers.wait()
    runs.add(heard, heard.cpu, texts)


def _publish(redis_url: str, session_id: UUID, rate: int) -> list[bytes]:
    """Publish events one by one at this rate; return their texts."""
    context = EventContext(
        domain_id=uuid4(),
        session_id=session_id,
        image_id=uuid4(),
        agent_id="assistant",
        turn_id=uuid4(),
    )
    message_id = uuid4()
    texts: list[bytes] = []
    with Redis.from_url(redis_url) as redis:
        stream = EventStream(redis)
        count = int(rate * SECONDS)
        started = time.monotonic()
        for sent in range(count):
            time.sleep(max(0.0, started + sent / rate - time.monotonic()))
            text = text_of(sent, is_last=sent == count - 1)
            stream.publish(session_id, TextDelta(context=context, message_id=message_id, text=text))
            texts.append(text.encode())
    return texts


def cpu_seconds(process: psutil.Process) -> float:
    """Return the processor time used by a process so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/docs", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False
