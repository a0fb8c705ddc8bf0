"""B6: CPU seconds per streamed token, against OpenAI's client alone, with LangGraph for comparison.

Ours includes everything a worker process does: claiming, the agent, joining, saving, publishing to
Redis. The peers only collect the text. A model in a separate process answers each question with
the same words at the same pace; all texts are compared before a time counts.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context

import psutil
from redis import Redis

from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from benchmarks.model_process import answer, model_process, question
from benchmarks.peers.streaming_peers import Streamed, stream_with_langgraph, stream_with_sdk
from benchmarks.texts import digest
from tests.stack import Stack

PATIENCE = 300.0
ENDED = """
SELECT status, count(*) FROM turns WHERE status IN ('succeeded', 'failed', 'stopped') GROUP BY 1
"""


@dataclass(frozen=True)
class Load:
    """A number of answers, how many of them run concurrently, their tokens and pace."""

    answers: int
    at_once: int
    tokens: int
    milliseconds: float

    @property
    def name(self) -> str:
        """The name in the table."""
        pace = f"{1e3 / self.milliseconds:.0f} tokens/s each" if self.milliseconds else "at once"
        return f"{self.at_once} in flight, {self.tokens} tokens, {pace}"

    @property
    def questions(self) -> list[str]:
        """The questions."""
        return [question(n, self.tokens, self.milliseconds) for n in range(self.answers)]

    def check(self, texts: Sequence[str]) -> None:
        """Check that every answer is complete and in its place."""
        wanted = digest(answer(n, self.tokens) for n in range(self.answers))
        assert digest(texts) == wanted, "the texts are not those of the model"

    def micros(self, seconds: float) -> float:
        """Return CPU microseconds per token."""
        return seconds / (self.answers * self.tokens) * 1e6


LOADS = (Load(10, 1, 1_000, 1), Load(50, 50, 1_000, 20))


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with ExitStack() as parts:
        url = parts.enter_context(model_process())
        stack = parts.enter_context(ground.stack(url, WORKER_TURNS="64"))
        stack.chat("get ready")
        for load in LOADS:
            yield from _figures(load, url, stack)


def _figures(load: Load, url: str, stack: Stack) -> Iterator[Figure]:
    alone = _peer(stream_with_sdk, load, url)
    ours, beside = _colloquy(stack, load)
    graph = _peer(stream_with_langgraph, load, url)
    texts = [f"{number(value)} µs" for value in (ours, alone, graph)]
    what = f"CPU per token ÷ OpenAI's client alone; {load.name}"
    yield Figure("B6", what, texts[0], texts[1], ours / alone, Target(3, 1.5))
    yield Figure("B6", f"LangGraph's token stream ÷ ours; {load.name}", *texts[::2], graph / ours)
    yield Figure("B6", f"API + Redis beside it; {load.name}", f"{number(beside)} µs")


def _peer(stream: Callable[[str, Sequence[str], int], Streamed], load: Load, url: str) -> float:
    """Return a peer's CPU microseconds per token, measured in a separate process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        streamed = process.submit(stream, url, load.questions, load.at_once).result(PATIENCE)
    load.check(streamed.texts)
    return load.micros(streamed.cpu)


def _colloquy(stack: Stack, load: Load) -> tuple[float, float]:
    """Return the same for the worker process, and for API and Redis together."""
    assert stack.api
    redis = Redis.from_url(stack.redis_url)
    stack.query_and_commit("TRUNCATE conversations, turns CASCADE")
    others = [psutil.Process(stack.api.pid), psutil.Process(redis.info("server")["process_id"])]
    worker = psutil.Process(stack.workers[0].pid)
    before, before_others = _cpu(worker), sum(map(_cpu, others))
    sessions = []
    for start in range(0, load.answers, load.at_once):
        batch = load.questions[start : start + load.at_once]
        turns = [stack.submit(asked) for asked in batch]
        sessions += [str(turn["session_id"]) for turn in turns]
        wait_for_turns(stack, len(sessions))
    used, used_by_others = _cpu(worker) - before, sum(map(_cpu, others)) - before_others
    load.check([stack.messages(session_id)[-1]["content"]["text"] for session_id in sessions])
    return load.micros(used), load.micros(used_by_others)


def wait_for_turns(stack: Stack, count: int) -> None:
    """Wait until `count` turns have succeeded, without load on the API."""
    deadline = time.monotonic() + PATIENCE
    while (ended := stack.query(ENDED)) != [("succeeded", count)]:
        assert {status for status, _ in ended} <= {"succeeded"}, ended
        assert time.monotonic() < deadline, "the turns do not end"
        time.sleep(0.1)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
