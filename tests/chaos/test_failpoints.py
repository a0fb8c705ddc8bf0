"""Each kill point once: a part dies, freezes or fails there, and every promise holds.

Left out: S0 (before any request: a client that dies has told nobody anything), and S13, which
belongs to artifact files that are not there yet.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.chaos.checks.checker import check
from tests.chaos.conftest import RunRecord
from tests.chaos.staging.clients import Caller, Follower
from tests.chaos.staging.model import Steady
from tests.chaos.staging.records import Disturbed
from tests.chaos.staging.reviving import reviving
from tests.chaos.staging.stage import Stage, open_stage
from tests.processes import ROOT
from tests.stack import Servers, Stack

POINTS = (
    "submit.begin", "submit.before_commit", "submit.after_commit", "submit.after_wake",
    "claim.after_commit", "agent.restored", "model.streaming", "step.before_save",
    "results.before_save", "step.after_save", "tool.begun", "tool.acted", "results.after_save",
    "close.before_commit", "close.after_commit", "approval.requested", "approval.decided",
    "approval.consumed", "sweep.found", "summary.before_save",
)  # fmt: skip
# What strands a turn, so that the sweeper has to find it.
NOBODY_WAKES = {"sweep.found": "submit.after_commit"}
SECOND_TURN = 8  # messages; more than the first turn has
STOP_SECONDS = 30
ACTIONS = {"kill": "kill", "stop": f"stop:{STOP_SECONDS}", "raise": "raise"}
# A worker that was frozen looks for turns in the database until it has Redis again, and may find
# the stranded one before the sweeper does.
TRIES = 3
SECONDS = 100
TOLD_SECONDS = 15  # what nobody published is found with the stream's next heartbeat


class Arena:
    """A stage whose failpoints all do one thing, each only when it is armed."""

    def __init__(self, action: str, home: Path, parts: ExitStack) -> None:
        self.action = action
        self._folder = home / "fired"
        self._folder.mkdir()
        for name in POINTS:
            (self._folder / name).touch()
        armed = ",".join(f"{name}={ACTIONS[action]}" for name in POINTS)
        environment = {"FAILPOINTS": armed, "FAILPOINTS_DIR": str(self._folder)}
        self.stage: Stage = parts.enter_context(
            open_stage(home, summarise_from=SECOND_TURN, **environment)
        )
        self.stage.model.steps = Steady(self.stage.history)
        self._known: set[str] = set()

    def arm(self, name: str) -> None:
        """Let the next process that passes there fall."""
        for one in (name, NOBODY_WAKES.get(name, name)):
            (self._folder / one).unlink(missing_ok=True)

    def fired_at(self, name: str) -> float | None:
        """When the failpoint was reached; None if it was not."""
        file = self._folder / name
        return file.stat().st_mtime if file.exists() else None

    def new_violations(self) -> list[str]:
        """What earlier cases have not broken already; a failpoint that raises is a 500 itself."""
        found = [one for one in check(self.stage.collect()) if one not in self._known]
        self._known |= set(found)
        return [one for one in found if self.action != "raise" or not one.startswith("P16")]


@pytest.fixture(scope="module")
def arenas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Arena]]:
    with ExitStack() as parts:
        yield _Opened(tmp_path_factory, parts)


class _Opened(dict[str, Arena]):
    """Arenas by action; one at a time is open, since each is a whole stack."""

    def __init__(self, homes: pytest.TempPathFactory, parts: ExitStack) -> None:
        super().__init__()
        self._homes, self._parts = homes, parts

    def __missing__(self, action: str) -> Arena:
        self._parts.close()
        self.clear()
        self[action] = Arena(action, self._homes.mktemp(action), self._parts)
        return self[action]


CASES = [pytest.param(action, name) for action in ACTIONS for name in POINTS]


@pytest.mark.chaos
@pytest.mark.timeout(240)
@pytest.mark.parametrize(("action", "name"), CASES)
def test_promises_hold_at(
    action: str, name: str, arenas: dict[str, Arena], record: RunRecord
) -> None:
    arena = arenas[action]
    caller = Caller(arena.stage.public_url, arena.stage.history)
    fired = None
    for _ in range(TRIES):
        marker = f"{action}-{name.replace('.', '-')}-{uuid4().hex[:4]}"
        arena.arm(name)
        with reviving(arena.stage):
            one = caller.submit(f"turn {marker}-1", None, f"{marker}-1")
            assert one is not None
            follower = Follower(arena.stage.public_url, one.session_id, arena.stage.history)
            other = caller.submit(f"turn {marker}-2", one.session_id, f"{marker}-2")
            assert other is not None
            ends = {said.turn_id: caller.wait(said.turn_id) for said in (one, other)}
        arena.stage.settle(SECONDS)
        if fired := arena.fired_at(name):
            break
        follower.close()

    assert fired, f"{name} was never reached"
    over = time.time()
    if action == "stop":  # what came back from the dead has its say, too
        time.sleep(max(0.0, fired + STOP_SECONDS + 2 - over))
        frozen = Disturbed(f"freeze at {name}", "", fired, fired + STOP_SECONDS + 1)
        arena.stage.history.add(frozen)
    caller.read(one.session_id)
    # Where nobody published the end of the first turn, the start of the second one tells it.
    assert follower.hears_of([other.turn_id], TOLD_SECONDS), "a follower was not told of the end"
    follower.close()
    caller.close()
    _decide(arena, name, list(ends.values()), over - fired, record)


def _decide(
    arena: Arena, name: str, ends: list[str | None], seconds: float, record: RunRecord
) -> None:
    found = arena.new_violations()
    record.add(
        "Failpoints",
        f"- {name}, {arena.action}: turns {' and '.join(map(str, ends))},"
        f" all over after {seconds:.1f} s, {len(found)} violations",
    )
    assert not found, "\n".join(found)
    may = {"succeeded", "failed"} if arena.action == "raise" else {"succeeded"}
    assert set(ends) <= may, ends


def test_a_migration_that_dies_half_way_is_made_again(servers: Servers, tmp_path: Path) -> None:
    environment = {"DATABASE_URL": _empty_database(servers), "PYTHONPATH": str(ROOT)}
    command, log = ["-m", "db.migrate"], tmp_path / "log"

    died = Stack.launch(command, environment | {"FAILPOINTS": "migration.halfway=kill"}, log).wait(
        SECONDS
    )
    again = Stack.launch(command, environment, log).wait(SECONDS)

    assert (died, again) == (-9, 0)


def _empty_database(servers: Servers) -> str:
    owner = make_url(servers.postgres.url)
    name = f"half_way_{uuid4().hex[:6]}"
    admin = create_engine(servers.postgres.superuser_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}" OWNER "{owner.username}"'))
    admin.dispose()
    return owner.set(database=name).render_as_string(hide_password=False)
