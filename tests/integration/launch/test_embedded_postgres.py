"""A real PostgreSQL from the wheel: it starts, keeps what it committed, and is found by others."""

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg2
import pytest

from launch.accounts import Account
from launch.errors import AlreadyRunning, LaunchError
from launch.servers.postgres import HOST, EmbeddedPostgres, running_url
from tests.integration.launch.launchers import ask, passable_folder

ROOT = Path(__file__).parents[3]
NOBODY = Account(65534, 65534, "nobody")
STARTER = """
import sys, time
from pathlib import Path
from launch.servers.postgres import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
server.start()
print(server.process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def first_home() -> Iterator[Path]:
    """A DATA_DIR whose server has run once, and was stopped."""
    with passable_folder() as folder:
        first = EmbeddedPostgres(folder)
        first.start()
        first.stop()
        yield folder


@pytest.fixture
def used_home(home: Path, first_home: Path) -> Path:
    """A copy of such a DATA_DIR: initdb takes longer than most tests."""
    subprocess.run(["cp", "-a", f"{first_home}/.", home], check=True)
    return home


@pytest.fixture
def server(used_home: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(used_home)
    server.start()
    yield server
    server.stop()


def test_the_application_is_no_superuser_and_owns_its_database(server):
    rows = ask(
        server.url,
        "SELECT rolsuper, rolbypassrls, rolcreaterole, pg_get_userbyid(datdba) "
        "FROM pg_roles, pg_database WHERE rolname = current_user AND datname = 'colloquy'",
    )

    assert rows == [(False, False, False, "colloquy")]
    ask(server.url, "CREATE TABLE owned (x int)")
    assert ask(server.superuser_url, "SELECT current_setting('is_superuser')") == [("on",)]


def test_commits_are_durable_by_the_server_settings(server):
    settings = "current_setting('fsync'), current_setting('synchronous_commit')"

    assert ask(server.url, f"SELECT {settings}") == [("on", "on")]


def test_a_stop_and_a_start_keep_rows_and_url(server):
    ask(server.url, "CREATE TABLE kept AS SELECT 1 AS x")
    url = server.url
    server.stop()
    server.start()

    assert server.url == url
    assert ask(server.url, "TABLE kept") == [(1,)]


def test_committed_rows_survive_sigkill_of_the_server(server):
    ask(server.url, "CREATE TABLE kept (x int)")
    url = server.url
    with contextlib.closing(psycopg2.connect(url.replace("+psycopg2", ""))) as client:
        client.cursor().execute("INSERT INTO kept VALUES (1)")
        client.commit()
        client.cursor().execute("INSERT INTO kept VALUES (2)")
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        server.start()

    assert server.url == url
    assert ask(server.url, "TABLE kept") == [(1,)]


def test_a_second_server_of_one_folder_is_refused_in_a_sentence(server):
    with pytest.raises(AlreadyRunning, match="already runs the database of"):
        EmbeddedPostgres(server.home).start()

    assert ask(server.url, "SELECT 1") == [(1,)]


@pytest.mark.chaos
def test_others_find_the_url_while_it_runs_and_only_then(server):
    assert running_url(server.home) == server.url
    url_file = server.home / "postgres" / "url"
    assert stat.S_IMODE(url_file.stat().st_mode) == 0o600

    server.stop()
    assert running_url(server.home) is None
    assert not url_file.exists()


@pytest.mark.chaos
def test_a_url_left_behind_by_a_killed_server_is_not_believed(server):
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()

    assert (server.home / "postgres" / "url").exists()
    assert running_url(server.home) is None


@pytest.mark.chaos
def test_a_copied_folder_does_not_lead_to_the_server_of_the_first(server, tmp_path):
    shutil.copytree(server.home / "postgres", tmp_path / "postgres", symlinks=True)

    assert running_url(tmp_path) is None
    assert running_url(server.home) == server.url


def test_passwords_are_random_private_and_needed(server, home):
    for name in ("superuser.password", "role.password", "postgres.log"):
        assert stat.S_IMODE((home / "postgres" / name).stat().st_mode) == 0o600
    wrong = server.url.replace(":", ":x", 2).replace(":x//", "://", 1)

    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        ask(wrong, "SELECT 1")


@pytest.mark.chaos
def test_a_lost_password_file_is_named(server, home):
    server.stop()
    (home / "postgres" / "superuser.password").write_text("another")

    with pytest.raises(LaunchError, match=r"superuser\.password is not the password of"):
        server.start()
    assert server.process.poll() is not None


@pytest.mark.chaos
def test_a_half_made_cluster_is_made_again(home):
    for left_behind in (".cluster-4711", ".cluster-4712"):
        (home / "postgres" / left_behind / "base").mkdir(parents=True)
    (home / "postgres").chmod(0o711)
    server = EmbeddedPostgres(home)
    server.start()
    try:
        assert ask(server.url, "SELECT 1") == [(1,)]
    finally:
        server.stop()


def test_a_stale_lock_file_is_cleared_silently(server):
    server.stop()
    (server.cluster_folder / "postmaster.pid").write_text(f"{os.getpid()}\n/nowhere\n")
    server.start()

    assert ask(server.url, "SELECT 1") == [(1,)]


@pytest.mark.chaos
def test_a_port_that_was_taken_meanwhile_is_replaced(server):
    server.stop()
    port = server.port
    with socket.create_server((HOST, port)):
        server.start()

        assert server.port != port
        assert ask(server.url, "SELECT 1") == [(1,)]


@pytest.mark.chaos
def test_the_server_ends_with_a_starter_that_was_killed(used_home):
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, used_home], stdout=subprocess.PIPE, cwd=ROOT
    )
    orphan = psutil.Process(int(starter.stdout.readline()))
    starter.kill()
    starter.wait()
    server = EmbeddedPostgres(used_home)
    server.start()  # waits for the other's end, then takes over
    try:
        assert psutil.wait_procs([orphan], timeout=30)[1] == []
        assert ask(server.url, "SELECT 1") == [(1,)]
    finally:
        server.stop()


def test_nothing_runs_after_a_stop(server):
    processes = [psutil.Process(server.process.pid)]
    processes += processes[0].children(recursive=True)
    server.stop()
    _, alive = psutil.wait_procs(processes, timeout=30)

    assert len(processes) > 3
    assert alive == []


def python_for_all() -> str | None:
    """A Python of this version that users other than root may run."""
    for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        if NOBODY.succeeds(candidate, "-c", ""):
            return candidate
    return None


@pytest.mark.chaos
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become someone else")
@pytest.mark.skipif(python_for_all() is None, reason="this Python is closed to other users")
def test_without_root_it_works_as_oneself(home):
    os.chown(home, NOBODY.uid, NOBODY.gid)
    home.chmod(0o700)
    starter = subprocess.Popen(
        [python_for_all(), "-c", STARTER, home],
        stdout=subprocess.PIPE,
        user=NOBODY.uid,
        group=NOBODY.gid,
        extra_groups=[],
        env={"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        process = psutil.Process(int(starter.stdout.readline()))

        assert process.uids().real == NOBODY.uid
        assert (home / "postgres" / "cluster" / "PG_VERSION").exists()
    finally:
        starter.kill()
        starter.wait()
    psutil.wait_procs([process], timeout=10)
    assert not process.is_running()
