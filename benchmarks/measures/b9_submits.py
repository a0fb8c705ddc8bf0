"""B9: accepted messages per second ÷ commits per second of the same PostgreSQL; enqueue to model.

Commits: one row of 1 KB each, with psycopg2. Submits: messages to existing sessions, by calls of
the service and over HTTP; each returned id is looked up in the table afterwards. All cases use the
same numbers of clients, processes and threads, one after the other, while no worker runs. Enqueue
to model: from just before the POST to the request's arrival at the scripted model.
"""

import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial

from sqlalchemy import Engine, create_engine, text

from benchmarks.clients.b9_clients import committing, enqueueing, posting, submitting
from benchmarks.colloquy import colloquy, new_session
from benchmarks.figures import Figure, Samples, Target, number
from benchmarks.ground import Ground
from benchmarks.load import Clients, crowd, let_act
from benchmarks.peers.rq_peer import Peer, rq_peer
from tests.fakes import ScriptedModel
from tests.stack import Stack

CLIENTS = (1, 8, 32)
SECONDS, ROUNDS = 1.5, 3
SESSIONS = 12_000
JOBS = 100
WARM_RUNS, RUNS = 5, 50
LIMITS = {"user_turns": 1_000_000, "all_turns": 1_000_000}
COMMITS = "CREATE TABLE commits (id bigserial PRIMARY KEY, row text)"
FILL = """
    INSERT INTO conversations (id, domain_id, owner_id, title, domain_name, image_id, image)
    SELECT gen_random_uuid(), domain_id, owner_id, 'A conversation', domain_name,
           gen_random_uuid(), image
    FROM conversations, generate_series(1, :count)
"""
FILL_STATES = """
    INSERT INTO agent_state_snapshots (conversation_id, state_data)
    SELECT c.id, s.state_data FROM conversations c, agent_state_snapshots s
    WHERE NOT EXISTS (SELECT FROM agent_state_snapshots o WHERE o.conversation_id = c.id)
"""
END_TURNS = "UPDATE turns SET status = 'succeeded', finished_at = now() WHERE status = 'queued'"
FIND = """
    SELECT count(*) FROM turns t
    JOIN display_messages m ON m.conversation_id = t.conversation_id
     AND m.position = t.message_position AND m.content->>'text' = t.message
    WHERE t.id = ANY(CAST(:ids AS uuid[]))
"""


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    with rq_peer(ground.redis_url) as peer:
        yield from _rates(ground, peer)
        yield _delay(ground, peer)


class _Case:
    """One repeated operation: its clients, and their rates in each run."""

    def __init__(self, processes: ProcessPoolExecutor, clients: Clients) -> None:
        self._processes, self._clients = processes, clients
        self._rates: dict[int, list[float]] = {count: [] for count in CLIENTS}

    def warm_up(self) -> None:
        """Run once, so that imports are not measured."""
        let_act(self._processes, self._clients, max(CLIENTS), SECONDS)

    def run(self, count: int) -> list[str]:
        """Run with `count` clients; return the results of their acts."""
        done = let_act(self._processes, self._clients, count, SECONDS)
        self._rates[count].append(done.rate)
        return done.words

    def rate(self, count: int) -> float:
        """Return the median of its rates."""
        return statistics.median(self._rates[count])

    def __str__(self) -> str:
        return " / ".join(f"{self.rate(count):,.0f}" for count in CLIENTS)


def _rates(ground: Ground, peer: Peer) -> Iterator[Figure]:
    with ExitStack() as parts:
        processes = parts.enter_context(crowd())
        services = parts.enter_context(colloquy(ground))
        url = services.settings.database_url
        new_session(services)
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        parts.callback(engine.dispose)
        sessions = _fill(engine)
        ground.analyze(url)
        environment = {name.upper(): str(value) for name, value in LIMITS.items()}
        stack = Stack(url, ground.redis_url, ground.home, **environment)
        parts.callback(stack.__exit__)
        stack.start_api()
        settings = services.settings.model_copy(update=LIMITS)
        commits = _Case(processes, partial(committing, url))
        submits = _Case(processes, partial(submitting, settings, sessions))
        posts = _Case(processes, partial(posting, stack.api_port, sessions))
        enqueues = _Case(processes, partial(enqueueing, ground.redis_url))
        cases = (commits, submits, posts, enqueues)
        for case in cases:
            case.warm_up()
        for _ in range(ROUNDS):
            for count in CLIENTS:
                for case in cases:
                    _end_turns(engine)
                    said = case.run(count)
                    if case in (submits, posts):
                        assert _stored(engine, said) == len(set(said)) == len(said)
        services.redis.flushall()
    peer.start_worker()
    jobs = peer.jobs_per_second(JOBS)
    rq = f"RQ: {enqueues} enqueues/s, not durable; its worker {jobs:,.0f} jobs/s"
    yield _figure("submits/s at the service", submits, commits, rq, Target(0.05, 0.1, "", True))
    yield _figure("POST /chat per second", posts, commits, "", Target(0.02, 0.1, "", True))


def _figure(what: str, ours: _Case, commits: _Case, peer: str, target: Target) -> Figure:
    """Return the figure; its value is the worst ratio over all numbers of clients."""
    ratios = {count: ours.rate(count) / commits.rate(count) for count in CLIENTS}
    each = " / ".join(number(ratio) for ratio in ratios.values())
    clients = " / ".join(str(count) for count in CLIENTS)
    return Figure(
        "B9",
        f"{what} ÷ commits/s, {clients} clients",
        f"{ours} ÷ {commits} = {each}",
        peer,
        min(ratios.values()),
        target,
    )


def _fill(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        connection.execute(text(COMMITS))
        connection.execute(text(FILL), {"count": SESSIONS})
        connection.execute(text(FILL_STATES))
        return [str(one) for one in connection.scalars(text("SELECT id FROM conversations"))]


def _end_turns(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text(END_TURNS))


def _stored(engine: Engine, ids: list[str]) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(FIND), {"ids": ids}).scalar_one())


def _delay(ground: Ground, peer: Peer) -> Figure:
    """Measure from the submit to the model's first request, each with an idle, warm worker."""
    ours, told, theirs = Samples(), Samples(), Samples()
    with ScriptedModel([{"text": "done"}]) as model, ground.stack(model.url) as stack:
        session_id = stack.chat("question")["session_id"]
        for run in range(WARM_RUNS + RUNS):
            asked, answered = _submit(stack, model, session_id)
            enqueued = _enqueue(peer, model)
            if run >= WARM_RUNS:
                ours.seconds.append(asked)
                told.seconds.append(answered)
                theirs.seconds.append(enqueued)
    return Figure(
        "B9",
        "POST /chat to the model's first request, p50",
        f"{ours}; {number(told.median)} ms after the 202",
        f"RQ's enqueue to the same: {theirs}",
        ours.median,
        Target(60, 15, " ms"),
    )


def _submit(stack: Stack, model: ScriptedModel, session_id: str) -> tuple[float, float]:
    model.clear()
    started = time.monotonic()
    turn = stack.submit("question", session_id)
    answered = time.monotonic()
    stack.finished(turn["turn_id"])
    assert len(model.started_at) == 1
    return model.started_at[0] - started, model.started_at[0] - answered


def _enqueue(peer: Peer, model: ScriptedModel) -> float:
    model.clear()
    started = time.monotonic()
    job = peer.ask(model.url)
    while not job.is_finished:
        time.sleep(0.002)
    assert len(model.started_at) == 1
    return model.started_at[0] - started
