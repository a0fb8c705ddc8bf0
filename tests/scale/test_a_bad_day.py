"""Three hosts on a bad day: people talk while hosts, servers and versions come and go."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.chaos.checks.checker import check
from tests.chaos.staging.clients import Countdown
from tests.chaos.staging.effects import Effects
from tests.chaos.staging.model import Script
from tests.chaos.staging.records import Disturbed, History
from tests.chaos.staging.witness import Witness
from tests.fakes import ScriptedModel
from tests.scale.fleet import Fleet
from tests.scale.network import HERE, Host, Network, missing_programs
from tests.scale.people import Administrator, Analyst, chromium
from tests.scale.stores import PostgresPair, RedisUnderSentinel, start_bucket, wait_for

TURNS, PEOPLE = 200, 8
CUT_SECONDS = 20.0  # longer than a lease
# P16 is about what the API answers: HAProxy answers for one that is gone, and says no time.
OF_OTHERS = ("P16",)


@dataclass
class Day:
    """All that there is on the network."""

    fleet: Fleet
    postgres: PostgresPair
    redis: RedisUnderSentinel
    hosts: dict[str, Host]
    effects: Effects
    history: History
    log: list[str] = field(default_factory=list)

    @contextmanager
    def fault(self, kind: str, target: str, victims: tuple[str, ...] = ()) -> Iterator[None]:
        """Write down what is broken, and how long."""
        begun = time.time()
        yield
        self.history.add(Disturbed(kind, target, begun, time.time(), victims))


@pytest.fixture
def day(tmp_path: Path) -> Iterator[Day]:
    if os.geteuid() or missing_programs():
        pytest.skip(f"needs root, and these programs: {missing_programs()}")
    history = History()
    with ExitStack() as parts:
        # Not one of pytest's folders: PostgreSQL runs as a user who may not enter those.
        home = Path(parts.enter_context(TemporaryDirectory(prefix="colloquy-scale-")))
        home.chmod(0o711)
        parts.callback(keep_logs, home, tmp_path)
        network = parts.enter_context(Network(home))
        of_api = ("api.desk.internal", "api.desk.example.com", "desk.example.com")
        door = network.add("door", "10.0.0.10", *of_api)
        hosts = [network.add(f"app{n}", f"10.0.0.1{n}") for n in (1, 2, 3)]
        stores = [network.add(f"store{n}", f"10.0.0.2{n}") for n in (1, 2)]
        bucket = start_bucket(network.add("bucket", "10.0.0.30"))
        model = parts.enter_context(ScriptedModel(host=HERE))
        model.steps = Script(39, history, mishaps=0.0, pace=0.05, slow=10.0)
        effects = parts.enter_context(Effects(HERE))
        (postgres := PostgresPair(stores[0], stores[1], home)).start()
        (redis := RedisUnderSentinel(stores[0], stores[1], door)).start()
        servers = {"DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        settings = {**bucket, **servers, "OPENAI_BASE_URL": model.url}
        fleet = Fleet(door, hosts, settings, home)
        fleet.start()
        named = {host.name: host for host in (door, *hosts, *stores)}
        yield Day(fleet, postgres, redis, named, effects, history)


def keep_logs(home: Path, folder: Path) -> None:
    """Leave what each host said, for somebody who asks why a day went wrong."""
    for log in home.glob("*.log"):
        shutil.copy(log, folder)


def kill_a_worker(day: Day, analyst: Analyst) -> None:
    """A worker dies, and is started again."""
    host = day.fleet.hosts[1]
    pid = day.fleet.pid(host, "worker")
    with day.fault("kill-worker", host.name, (str(pid),)):
        day.fleet.kill_part(host, "worker")
    day.fleet.start_part(host, "worker")


def cut_a_host_off(day: Day, analyst: Analyst) -> None:
    """The host that only has a worker is cut off for longer than its turns are leased."""
    host = day.fleet.hosts[2]
    with day.fault("blackhole worker", host.name):
        host.cut()
        time.sleep(CUT_SECONDS)
        host.join()


def lose_a_host(day: Day, analyst: Analyst) -> None:
    """A host with pages, an API and a worker loses its power, and comes back later."""
    host = day.fleet.hosts[0]
    with day.fault("blackhole host", host.name):
        host.cut()
        host.kill()
        analyst.goes_on()
        host.join()
    for part in ("api", "ui", "worker"):
        day.fleet.start_part(host, part)


def fail_redis_over(day: Day, analyst: Analyst) -> None:
    with day.fault("restart-redis", "store1"):
        day.redis.fail_over()


def upgrade_at_noon(day: Day, analyst: Analyst) -> None:
    """A newer version takes over, part by part."""
    with day.fault("kill-api for an upgrade", "all"):
        said = day.fleet.upgrade()
    assert "Processes of an older version are connected" in said


def fail_postgres_over(day: Day, analyst: Analyst) -> None:
    with day.fault("restart-postgres", "store1"):
        day.postgres.fail_over()


EVENTS: tuple[tuple[int, Callable[[Day, Analyst], None]], ...] = (
    (20, kill_a_worker),
    (45, cut_a_host_off),
    (75, fail_redis_over),
    (100, lose_a_host),
    (130, upgrade_at_noon),
    (165, fail_postgres_over),
)


@pytest.mark.scale
@pytest.mark.timeout(1_500)
def test_two_hundred_turns_on_a_bad_day(day: Day, tmp_path: Path) -> None:
    witness = Witness(f"{day.postgres.url}&tcp_user_timeout=5000")
    witness.install()
    administrator = Administrator(day.fleet.first_admin())
    administrator.make_domain(day.effects)
    left = Countdown(TURNS)
    people = administrator.people(PEOPLE, day.history, left)
    with chromium() as analyst:
        analyst.visit()
        analyst.sign_in("ada")
        analyst.uploads(tmp_path)
        analyst.makes_things(tmp_path)
        analyst.begins()
        for person in people:
            person.start()
        for turns, event in EVENTS:
            wait_for(lambda at=turns: len(day.history.submitted) >= at, f"no {turns} turns begin")
            event(day, analyst)
            analyst.goes_on()
        for person in people:
            person.join()
        wait_for(lambda: not witness.unfinished(), "turns do not end")
        analyst.makes_things(tmp_path)
        history = collect(day, witness, administrator, analyst)

    ends = Counter(turn["status"] for turn in history.turns)
    print(told(history, ends))
    found = violations(history)
    assert not found, "\n".join(found)
    assert set(ends) <= {"succeeded", "stopped"}, ends
    assert sum(ends.values()) >= TURNS


def collect(day: Day, witness: Witness, administrator: Administrator, analyst: Analyst) -> History:
    """Complete the records of the day."""
    history = day.history
    history.ran = list(day.effects.ran)
    witness.fill(history)
    history.rows = [row for row in history.rows if row["conversation_id"] not in analyst.scripted]
    history.unopened = administrator.cannot_open(history.turns)
    return history


def violations(history: History) -> list[str]:
    """Return which promises were broken."""
    return [found for found in check(history) if not found.startswith(OF_OTHERS)]


def told(history: History, ends: Counter[str]) -> str:
    """Return the day in a few lines."""
    attempts = Counter(turn["attempt"] for turn in history.turns)
    refused = Counter(answer.status for answer in history.answered if answer.status >= 500)
    faults = [
        f"{one.kind}, {one.target}: {one.ended - one.started:.0f} s" for one in history.disturbed
    ]
    return "\n".join(
        (
            f"turns by how they ended: {dict(ends)}; by attempts: {dict(attempts)}",
            f"tool runs: {len(history.ran)}, requests: {len(history.answered)}, of which failed"
            f" and were asked again: {dict(refused)}",
            *faults,
        )
    )
