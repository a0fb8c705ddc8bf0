"""A real Redis from a wheel or the PATH: it starts, keeps its log, and is found by others."""

import os
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from launch.errors import AlreadyRunning
from launch.redis import EmbeddedRedis, find_server, running_url


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    server = EmbeddedRedis(tmp_path)
    server.start()
    yield server
    server.stop()


def client(server: EmbeddedRedis) -> redis.Redis:
    return redis.Redis.from_url(server.url)


def test_streams_work_and_the_log_of_commands_is_on(server):
    server_says = client(server)
    server_says.xadd("events", {"text": "a"})

    assert server_says.xlen("events") == 1
    assert server_says.config_get("appendonly") == {"appendonly": "yes"}
    assert server_says.config_get("bind") == {"bind": "127.0.0.1"}


def test_a_stop_and_a_start_keep_keys_and_url(server):
    client(server).set("a", "1")
    url = server.url
    server.stop()
    assert running_url(server.home) is None
    server.start()

    assert server.url == url == running_url(server.home)
    assert client(server).get("a") == b"1"


def test_sigkill_costs_at_most_the_last_second(server):
    client(server).set("a", "1")
    time.sleep(1.5)
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    assert running_url(server.home) is None
    server.start()

    assert client(server).get("a") == b"1"


def test_a_log_that_cannot_be_read_is_set_aside(server):
    server.stop()
    for file in (server.home / "redis" / "appendonlydir").iterdir():
        file.write_bytes(b"garbage\n" * 9)
    server.start()

    assert client(server).ping()
    assert list((server.home / "redis").glob("appendonlydir.unreadable-*"))


def test_a_second_server_of_one_folder_is_refused_in_a_sentence(server):
    with pytest.raises(AlreadyRunning, match="already runs the Redis of"):
        EmbeddedRedis(server.home).start()

    assert client(server).ping()


def test_the_password_is_needed_and_private(server):
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=server.port).ping()

    for name in ("password", "url", "redis.conf"):
        assert stat.S_IMODE((server.home / "redis" / name).stat().st_mode) == 0o600
    assert server.process.args == [str(find_server()), str(server.home / "redis" / "redis.conf")]


def test_a_folder_with_spaces_and_quotes_works(tmp_path):
    server = EmbeddedRedis(tmp_path / 'a "strange" folder')
    server.start()
    try:
        assert client(server).ping()
    finally:
        server.stop()
