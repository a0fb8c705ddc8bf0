"""B13: processor time of a tool turn ÷ that of a LangChain agent behind FastAPI, in one process.

A tool turn: the model streams forty tokens and calls a quick tool, then streams forty more; the
client reads all of it. Counted is the processor time of all processes that serve the turn: worker,
API, PostgreSQL and Redis; for the peer its one process, and PostgreSQL if it stores checkpoints
there. The model and the clients are not counted.
"""

from collections.abc import Callable, Iterator, Mapping

from benchmarks.clients.b13_services import Costs, Service, colloquy_service, peer_service
from benchmarks.figures import Figure, Target, number
from benchmarks.ground import Ground
from benchmarks.model_process import model_process

SESSIONS = {1: 8, 8: 2, 32: 1}  # sessions of each client, by the number of clients
ROUNDS, MANY_ROUNDS = 1, 5
SAVERS = {"InMemorySaver": False, "AsyncPostgresSaver": True}  # whether it needs a database
CLIENTS = " / ".join(map(str, SESSIONS)) + " clients"

CostsOf = Mapping[int, Costs]  # by the number of clients


def measure(ground: Ground, is_long: bool) -> Iterator[Figure]:
    """Yield the figures of this claim."""
    rounds = MANY_ROUNDS if is_long else ROUNDS
    with model_process() as url:
        with colloquy_service(ground, url) as (service, result):
            ours = _measure(service, rounds)
        peers: dict[str, CostsOf] = {}
        for name, has_database in SAVERS.items():
            with peer_service(ground, url, result, has_database) as service:
                peers[name] = _measure(service, rounds)
    for name, peer in peers.items():
        yield _ratio(name, ours, peer)
    for count in SESSIONS:
        parts = [_parts(costs[count]) for costs in (ours, peers["AsyncPostgresSaver"])]
        yield Figure(
            "B13", f"of which, {count} clients", parts[0], f"AsyncPostgresSaver: {parts[1]}"
        )
    yield _figure("turns per second", lambda costs: costs.rate, ours, peers)
    yield _figure("p50 of a turn, ms", lambda costs: costs.p50, ours, peers)


def _measure(service: Service, rounds: int) -> CostsOf:
    """Measure the service with each number of clients, in several rounds."""
    costs = {clients: Costs() for clients in SESSIONS}
    for _ in range(rounds):
        for clients, sessions in SESSIONS.items():
            costs[clients].runs.append(service.run(clients, sessions))
    return costs


def _ratio(name: str, ours: CostsOf, peer: CostsOf) -> Figure:
    """Return the figure; its value is the worst ratio over all numbers of clients."""
    ratios = [ours[count].cpu / peer[count].cpu for count in SESSIONS]
    told = [_each(costs, lambda costs: costs.cpu) for costs in (ours, peer)]
    return Figure(
        "B13",
        f"processor time of a tool turn ÷ {name}'s, {CLIENTS}",
        f"{told[0]} ms ÷ {told[1]} ms = {' / '.join(map(number, ratios))}",
        f"{told[1]} ms",
        max(ratios),
        Target(1.5, 1),
    )


def _figure(
    what: str, value: Callable[[Costs], float], ours: CostsOf, peers: Mapping[str, CostsOf]
) -> Figure:
    theirs = "; ".join(f"{name}: {_each(peer, value)}" for name, peer in peers.items())
    return Figure("B13", f"{what}, {CLIENTS}", _each(ours, value), theirs)


def _each(costs: CostsOf, value: Callable[[Costs], float]) -> str:
    return " / ".join(number(value(costs[count])) for count in SESSIONS)


def _parts(costs: Costs) -> str:
    return ", ".join(f"{part} {number(cpu)} ms" for part, cpu in costs.parts.items())
