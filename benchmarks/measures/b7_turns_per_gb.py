"""B7: long turns in flight per GB of memory, against RQ's forking worker; and their pace.

Memory is the proportional share (PSS) of all processes that run turns, measured while every turn
is in the middle of its answer. The peer is RQ's pool of workers, each of which forks for one job;
LangChain is imported before the forks, so that they share as much as possible. Pace is the time
between tokens, by Redis's timestamps of the events, of five hundred turns in one process while all
are in flight, against a single turn in the same process.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psutil
from redis import Redis
from rq import Queue
from rq.job import Job

from backend.events.stream import STREAM
from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from benchmarks.measures.b6_cpu import wait_for_turns
from benchmarks.model_process import answer, model_process, question
from benchmarks.peers.rq_fork_peer import QUEUE
from benchmarks.texts import digest
from tests.processes import ROOT, stop_process
from tests.stack import Stack

TURNS = 500
FORKS = 8
FORK_TOKENS = 250
TOKENS = {1: 40, TURNS: 75}  # enough that all begin before the first ends
EVERY = 2_000.0  # milliseconds from token to token of one turn
CLIENTS = 8
PATIENCE = 300.0


@dataclass(frozen=True)
class InFlight:
    """Turns in flight: their bytes, and the milliseconds between their tokens."""

    turns: int
    memory: int
    gaps: Sequence[float] = ()

    @property
    def per_gb(self) -> float:
        """The number of turns per GB."""
        return self.turns / self.memory * 2**30

    @property
    def memory_text(self) -> str:
        """The memory as text."""
        return f"{self.memory / 2**20:,.0f} MB with {self.turns}"

    @property
    def p99(self) -> float:
        """The 99th percentile of the time between two tokens."""
        return statistics.quantiles(self.gaps, n=100)[98]


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        url = parts.enter_context(model_process())
        forks = _forks(ground.redis_url, url)
        room = {"WORKER_TURNS": str(TURNS), "USER_TURNS_AT_ONCE": str(TURNS)}
        stack = parts.enter_context(ground.stack(url, **room))
        stack.chat("get ready")
        idle = _memory([stack.workers[0].pid])
        one, many = _turns(stack, 1), _turns(stack, TURNS)
    values = [f"{number(seen.per_gb)} ({seen.memory_text})" for seen in (many, forks)]
    ratio = many.per_gb / forks.per_gb
    target = Target(50, 150, at_least=True)
    yield Figure("B7", "turns in flight per GB ÷ RQ's forks", *values, ratio, target)
    each = (many.memory - idle) / TURNS / 2**20
    yield Figure("B7", "memory of one more turn", f"{number(each)} MB", "", None)
    what = f"time between tokens, p99: {TURNS} turns ÷ one; a token every {EVERY:.0f} ms"
    texts = [f"{number(seen.p99)} ms" for seen in (many, one)]
    yield Figure("B7", what, *texts, many.p99 / one.p99, Target(3, 2))
    late = [f"{number(seen.p99 - EVERY)} ms" for seen in (many, one)]
    yield Figure("B7", "the same, minus the model's own pace", *late)


def _turns(stack: Stack, count: int) -> InFlight:
    """Run `count` turns concurrently in the worker, and measure it while all are in flight."""
    redis = Redis.from_url(stack.redis_url)
    stack.query_and_commit("TRUNCATE conversations, turns CASCADE")
    asked = [question(n, TOKENS[count], EVERY) for n in range(count)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        turns = list(clients.map(stack.submit, asked))
    sessions = [str(turn["session_id"]) for turn in turns]
    stack.wait_for(lambda: _all_speak(redis, sessions), "the turns do not begin", PATIENCE)
    running = "SELECT count(*) FROM turns WHERE status = 'running'"
    assert stack.query(running)[0][0] == count, "they are not all in flight together"
    memory = _memory([stack.workers[0].pid])
    began_all = time.time() * 1e3
    wait_for_turns(stack, count)
    wanted = digest(answer(n, TOKENS[count]) for n in range(count))
    said = [stack.messages(session_id)[-1]["content"]["text"] for session_id in sessions]
    assert digest(said) == wanted, "the texts are not those of the model"
    told = [_told(redis, session_id) for session_id in sessions]
    redis.close()
    first_end = min(times[-1] for times in told)
    steady = ([t for t in times if began_all <= t <= first_end] for times in told)
    gaps = [after - before for times in steady for before, after in pairwise(times)]
    return InFlight(count, memory, gaps)


def _all_speak(redis: Redis, sessions: Sequence[str]) -> bool:
    """Return whether each turn has published its start and at least one word."""
    with redis.pipeline(transaction=False) as pipeline:
        for session_id in sessions:
            pipeline.xlen(f"{STREAM}{session_id}")
        return min(pipeline.execute()) >= 4  # the question, queued, started, a word


def _told(redis: Redis, session_id: str) -> list[float]:
    """Return when the pieces of an answer were published, in milliseconds by Redis's clock."""
    told = redis.xrange(f"{STREAM}{session_id}")
    return [float(at.split(b"-")[0]) for at, event in told if b'"text_delta"' in event[b"e"]]


def _forks(redis_url: str, url: str) -> InFlight:
    """Run the peer's turns; measure the memory of its pool, its workers and their forks."""
    with Redis.from_url(redis_url) as redis, _worker_pool(redis_url) as pool:
        queue = Queue(QUEUE, connection=redis)
        asked = [question(n, FORK_TOKENS, 100) for n in range(FORKS)]
        jobs = [
            queue.enqueue("benchmarks.peers.rq_fork_peer.run_turn", url, text, result_ttl=600)
            for text in asked
        ]
        _wait(lambda: all(job.get_status() == "started" for job in jobs), "no forks")
        time.sleep(5)  # by then each has called the model
        family = [pool.pid, *(process.pid for process in pool.children(recursive=True))]
        memory = _memory(family)
        assert len(family) >= 1 + 2 * FORKS
        _wait(lambda: all(job.is_finished for job in jobs), "the jobs do not end")
        wanted = digest(answer(n, FORK_TOKENS) for n in range(FORKS))
        assert digest(map(_result, jobs)) == wanted, "the texts are not those of the model"
    return InFlight(FORKS, memory)


def _result(job: Job) -> str:
    return str(job.return_value(refresh=True))


@contextmanager
def _worker_pool(redis_url: str) -> Iterator[psutil.Process]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.peers.rq_fork_peer", redis_url, str(FORKS)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield psutil.Process(process.pid)
    finally:
        stop_process(process)


def _memory(pids: Sequence[int]) -> int:
    """Return the bytes of the processes, counting shared memory once.

    A worker is hidden from other processes of its user, so without root RSS is used for all.
    """
    if os.geteuid() != 0:
        return sum(int(psutil.Process(pid).memory_info().rss) for pid in pids)
    return sum(_pss(Path(f"/proc/{pid}/smaps_rollup").read_text()) for pid in pids)


def _pss(rollup: str) -> int:
    line = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
    return int(line.split()[1]) * 1024


def _wait(is_so: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.1)
