"""B16: what parts need: turns per second with more workers, and memory and processor while idle.

The turns are those of B13, of 32 clients. Where workers have processors of their own, more of them
take more turns; here they share two with all else, so the figure says what a worker costs. Memory
is the proportional set size of a part and its children: what would be free without it. The dozen
pages are tabs of Chromium with a session each, which nobody has touched for a minute; the goal is
one hundredth of a core for all twelve.
"""

import time
from collections.abc import Iterator, Mapping, Sequence

import psutil
from playwright.sync_api import sync_playwright

from benchmarks.clients.b13_services import Costs, colloquy_service
from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from benchmarks.model_process import model_process
from launch.browser import find_browser, sandbox_flags
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

WORKERS, CLIENTS, SESSIONS, ROUNDS, MANY_ROUNDS = (1, 2, 4), 32, 1, 2, 5
TABS, SETTLE_SECONDS, IDLE_SECONDS = 12, 70, 60
MEGABYTE = 1e6


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    yield from _rates(ground, MANY_ROUNDS if is_long else ROUNDS)
    with (
        ScriptedModel(lambda messages, body: {"text": "Answered."}) as model,
        ground.stack(model.url) as stack,
    ):
        yield from _idle(ground, stack)


def _rates(ground: Ground, rounds: int) -> Iterator[Figure]:
    """Measure turns per second, and a turn's processor time by part, with several workers."""
    with model_process() as url:
        for workers in WORKERS:
            costs = Costs()
            with colloquy_service(ground, url, workers) as (service, _):
                costs.runs += [service.run(CLIENTS, SESSIONS) for _ in range(rounds)]
            parts = ", ".join(f"{part} {number(cpu)} ms" for part, cpu in costs.parts.items())
            what = f"turns per second, {CLIENTS} clients, workers: {workers}"
            yield Figure("B16", what, f"{number(costs.rate)}; a turn: {parts}")


def _idle(ground: Ground, stack: Stack) -> Iterator[Figure]:
    """Measure what each part needs while a dozen pages are open and nothing happens."""
    url = stack.start_ui()
    postgres, redis = ground.server_pids
    assert stack.api
    pids = {
        "pages": stack.others[-1].pid, "API": stack.api.pid, "worker": stack.workers[0].pid,
        "PostgreSQL": postgres, "Redis": redis,
    }  # fmt: skip
    parts = {part: psutil.Process(pid) for part, pid in pids.items()}
    sessions = [stack.chat("Hello")["session_id"] for _ in range(TABS)]
    without = _shares(parts)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()), args=["--disable-gpu", *sandbox_flags()]
        )
        desk = Desk(browser.new_context(), url)
        for session_id in sessions:
            desk.open(f"?session={session_id}")
            desk.sees("Answered.")
        shares = _shares(parts)
        browser.close()
    for part, process in parts.items():
        said = (
            f"{number(_memory(process) / MEGABYTE)} MB, {shares[part]:.2%} of a core;"
            f" {without[part]:.2%} without pages"
        )
        is_goal = part == "pages"
        yield Figure(
            "B16", f"{part}, idle, {TABS} open pages", said, "",
            100 * shares[part] if is_goal else None,
            Target(2, 1, " %") if is_goal else None,
        )  # fmt: skip


def _shares(parts: Mapping[str, psutil.Process]) -> dict[str, float]:
    """Return which share of a core each part uses for a while, once all is quiet."""
    time.sleep(SETTLE_SECONDS)
    before = {part: _cpu(_family(process)) for part, process in parts.items()}
    time.sleep(IDLE_SECONDS)
    return {
        part: (_cpu(_family(process)) - before[part]) / IDLE_SECONDS
        for part, process in parts.items()
    }


def _family(process: psutil.Process) -> Sequence[psutil.Process]:
    return [process, *process.children(recursive=True)]


def _cpu(processes: Sequence[psutil.Process]) -> float:
    """Return processor seconds, with those of children that have ended."""
    return sum(float(sum(one.cpu_times()[:4])) for one in processes)


def _memory(process: psutil.Process) -> float:
    """Return bytes."""
    return float(sum(one.memory_full_info().pss for one in _family(process)))
