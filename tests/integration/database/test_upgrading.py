"""While a new version takes over, the old one finishes what it has, and neither fails a turn."""

import threading
from pathlib import Path
from shutil import copytree

import httpx
import pytest
from sqlalchemy import create_engine

from db import migrate as migrating
from db import schema
from db.live import find_older
from db.schema import MIGRATIONS, REVISIONS, UnusableDatabase
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.servers.newer_worker import NEWER
from tests.stack import Servers, Stack

TURNS = 20
NEXT = f"{int(REVISIONS[-1]) + 1:04d}"
MIGRATION = f"""
from alembic import op
revision, down_revision = "{NEXT}", "{REVISIONS[-1]}"
ROLLING = {{rolling}}
def upgrade():
    op.execute("CREATE TABLE of_the_next_version (id integer)")
"""


def become_newer(stack: Stack) -> None:
    """Do to the database what the migration of a newer version does."""
    stack.query_and_commit("UPDATE alembic_version SET version_num = :newer", newer=NEWER)


def obstacle(stack: Stack) -> str:
    return stack.client.get("/work").json()["workers"][0]["obstacle"]


def test_turns_that_run_are_finished_and_others_wait_for_the_new_version(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    goes_on = threading.Event()
    with make_stack(servers, model, tmp_path, WORKER_TURNS="40") as stack:
        model.steps = lambda *_: {"text": "one two three", "until": goes_on}
        running = [stack.submit("hello")["turn_id"] for _ in range(TURNS)]
        query = "SELECT count(*) FROM turns WHERE status = 'running'"
        stack.wait_for(lambda: stack.query(query)[0][0] == TURNS, "not all run")

        become_newer(stack)
        told = stack.wait_for(lambda: obstacle(stack), "the worker does not notice")
        name = stack.client.get("/work").json()["workers"][0]["name"]
        ready = httpx.get(f"{stack.base_url}/readyz")
        later = [stack.submit("hello")["turn_id"] for _ in range(TURNS)]
        goes_on.set()
        ends = [stack.finished(turn) for turn in running]
        untouched = [stack.turn(turn)["attempts"] for turn in later]
        stack.workers.append(stack.start("-m", "tests.servers.newer_worker"))
        ends += [stack.finished(turn) for turn in later]

        assert told == ready.json()["api"] == schema.newer_text(NEWER)
        assert (ready.status_code, ready.json()["database"]) == (503, "ok")
        assert ready.json()["worker"].startswith("1 of 1 take no turns: ")
        assert ready.json()["worker"].endswith(told)
        assert untouched == [0] * TURNS
        assert [(end["status"], end["attempts"]) for end in ends] == [("succeeded", 1)] * 2 * TURNS
        assert httpx.get(f"{stack.base_url}/readyz").status_code == 200
        assert stack.workers[0].poll() is None  # whatever starts it again would start the old one
        drained = stack.run("-m", "backend.operations.drain", name)
        assert (drained[0], stack.workers[0].wait(timeout=30)) == (0, 0)
        said = stack.log.read_text()
        assert said.count("takes no more turns. The database") == 1
        assert said.count("The API goes on. The database") == 1


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process becomes one of the next version, with one more migration: its file."""
    folder = copytree(MIGRATIONS, tmp_path / "migrations")
    monkeypatch.setattr(migrating, "MIGRATIONS", folder)
    monkeypatch.setattr(schema, "REVISIONS", (*REVISIONS, NEXT))
    return folder / "versions" / f"{NEXT}_next.py"


def live(stack: Stack) -> list[tuple[str, str]]:
    engine = create_engine(stack.database_url)
    with engine.connect() as connection:
        found = find_older(connection)
    engine.dispose()
    return [(one.part, one.pid) for one in found]


def test_a_migration_names_the_processes_that_are_to_be_replaced(
    own_stack: Stack, next_version: Path
) -> None:
    next_version.write_text(MIGRATION.format(rolling=True))
    said: list[str] = []

    migrating.migrate(own_stack.database_url, said.append)
    migrating.migrate(own_stack.database_url, said.append)

    api, worker = own_stack.api, own_stack.workers[0]
    assert api and live(own_stack) == [("api", str(api.pid)), ("worker", str(worker.pid))]
    (sentence,) = said
    assert f".{api.pid} (schema {REVISIONS[-1]})" in sentence
    assert f".{worker.pid} (schema {REVISIONS[-1]})" in sentence
    assert "Start the new version beside them, then stop them." in sentence


def test_a_migration_that_cannot_run_beside_them_is_refused_until_they_have_ended(
    own_stack: Stack, next_version: Path
) -> None:
    next_version.write_text(MIGRATION.format(rolling=False))

    with pytest.raises(UnusableDatabase) as refused:
        migrating.migrate(own_stack.database_url)
    assert not own_stack.query("SELECT to_regclass('of_the_next_version')")[0][0]
    own_stack.kill_api()
    own_stack.kill_workers()
    own_stack.wait_for(lambda: not live(own_stack), "they are still connected")
    migrating.migrate(own_stack.database_url)

    assert f"Migration {NEXT} cannot run beside an older version" in str(refused.value)
    assert "colloquy drain" in str(refused.value)
    assert own_stack.query("SELECT to_regclass('of_the_next_version')")[0][0]


def test_a_process_of_this_version_is_not_older(own_stack: Stack) -> None:
    names = own_stack.query(
        "SELECT DISTINCT application_name FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name LIKE 'colloquy %'"
    )

    assert len(names) == 2
    assert live(own_stack) == []
