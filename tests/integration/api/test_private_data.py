"""What an installation stores is for its own user; what was deleted is nowhere any more."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from launch.processes.children import start_child
from tests.fakes import script
from tests.modes import open_to_others
from tests.stack import Servers, Stack

CANARY = "canary-4711"


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_no_file_of_the_embedded_servers_is_open_to_other_users(servers: Servers) -> None:
    servers.new_database()
    servers.new_redis()

    assert (servers.newest_redis.home / "redis" / "password").exists()
    assert open_to_others(servers.home) == []


def test_what_a_part_writes_is_for_its_user_alone(tmp_path: Path) -> None:
    write = "import os; os.mkdir('cache'); open('cache/file', 'w').write('x')"

    child = start_child(
        [sys.executable, "-c", write],
        env={},
        output=subprocess.DEVNULL,
        cwd=tmp_path,
        death_signal=signal.SIGTERM,
    )

    assert child.wait(timeout=30) == 0
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "cache" / "file").stat().st_mode & 0o777 == 0o600


def test_a_deleted_sessions_words_are_not_left_in_redis(own_stack: Stack, servers: Servers) -> None:
    session_id = own_stack.chat(script({"text": f"the {CANARY} " * 20}))["session_id"]
    with Redis.from_url(own_stack.redis_url) as redis:
        assert redis.exists(f"colloquy:events:{session_id}")

        assert own_stack.client.delete(f"/sessions/{session_id}").status_code == 204

        texts = [key for key in redis.scan_iter("*") if CANARY.encode() in (redis.dump(key) or b"")]
    assert texts == []
    folder = servers.newest_redis.home
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert [path for path in written if CANARY.encode() in path.read_bytes()] == []


def test_turns_that_wait_when_redis_starts_again_run_all_the_same(
    patient_stack: Stack, servers: Servers
) -> None:
    stack = patient_stack
    stack.kill_workers()
    turns = [stack.submit(script({"text": "done"})) for _ in range(5)]

    servers.newest_redis.stop()
    servers.newest_redis.start()
    stack.start_worker()

    ends = [stack.finished(turn["turn_id"], seconds=60)["status"] for turn in turns]
    assert ends == ["succeeded"] * 5
