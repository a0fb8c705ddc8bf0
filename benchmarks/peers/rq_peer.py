"""The RQ peer: its `Worker`, which forks for each job, with LangChain imported before the fork.

`python -m benchmarks.peers.rq_peer REDIS_URL` runs such a worker, with RQ's defaults.
"""

import logging
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from redis import Redis
from rq import Queue, Retry, Worker
from rq.job import Job
from rq.registry import StartedJobRegistry

from tests.processes import ROOT, stop_process

QUEUE = "peer"
START_SECONDS = 40.0


def ask_model(url: str, question: str) -> None:
    """Run the job: an agent without tools calls the model once."""
    model = ChatOpenAI(model="scripted", base_url=url, api_key="test", max_retries=0)
    create_agent(model).invoke({"messages": [("user", question)]})


def do_nothing() -> None:
    """Run a job whose only cost is RQ itself."""


class Peer:
    """RQ's queue on one Redis, with worker processes."""

    def __init__(self, redis_url: str) -> None:
        self._url = redis_url
        self.redis = Redis.from_url(redis_url)
        self.queue = Queue(QUEUE, connection=self.redis)
        self._workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker and wait until it listens."""
        known = Worker.count(connection=self.redis)
        arguments = [sys.executable, "-m", "benchmarks.peers.rq_peer", self._url]
        process = subprocess.Popen(
            arguments, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._workers.append(process)
        deadline = time.monotonic() + START_SECONDS
        while Worker.count(connection=self.redis) == known:
            assert time.monotonic() < deadline, "RQ's worker does not start"
            time.sleep(0.02)
        return process

    def jobs_per_second(self, count: int) -> float:
        """Return how many empty jobs a worker runs per second."""
        jobs = [self.queue.enqueue(do_nothing) for _ in range(count)]
        while not jobs[0].is_finished:
            time.sleep(0.001)
        started = time.perf_counter()
        while not jobs[-1].is_finished:
            time.sleep(0.001)
        return (count - 1) / (time.perf_counter() - started)

    def ask(self, url: str) -> Job:
        """Start a job that calls the model; it may be retried once, which is not RQ's default."""
        return self.queue.enqueue(ask_model, url, "question", retry=Retry(max=1))

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """SIGKILL a worker and its fork."""
        for one in [*psutil.Process(process.pid).children(recursive=True), process]:
            os.kill(one.pid, signal.SIGKILL)
        process.wait()
        self._workers.remove(process)

    def abandoned_after(self) -> float:
        """Return the seconds until the running job is abandoned, by its score in RQ's registry."""
        registry = StartedJobRegistry(queue=self.queue)
        ((_, score),) = self.redis.zrange(registry.key, 0, -1, withscores=True)
        return float(score) - time.time()

    def looks_every(self) -> float:
        """Return the seconds between an idle worker's checks for abandoned jobs."""
        worker = Worker([QUEUE], connection=self.redis)
        waits = math.ceil(worker.maintenance_interval / worker.dequeue_timeout)
        return float(waits * worker.dequeue_timeout)

    def close(self) -> None:
        """Stop the workers."""
        for process in self._workers:
            stop_process(process)
        self.redis.close()


@contextmanager
def rq_peer(redis_url: str) -> Iterator[Peer]:
    """Open RQ for the block."""
    peer = Peer(redis_url)
    try:
        yield peer
    finally:
        peer.close()


if __name__ == "__main__":
    logging.disable()
    Worker([QUEUE], connection=Redis.from_url(sys.argv[1])).work(logging_level="ERROR")
