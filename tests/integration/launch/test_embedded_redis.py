"""A real Redis from a wheel or the PATH: it starts, keeps its log, and is found by others."""

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from launch.errors import AlreadyRunning
from launch.servers.redis import EmbeddedRedis, find_server, running_url


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    server = EmbeddedRedis(tmp_path)
    server.start()
    yield server
    server.stop()


CANARY = "canary-4711"


def files(server: EmbeddedRedis) -> list[Path]:
    return [path for path in (server.home / "redis").rglob("*") if path.is_file()]


def client(server: EmbeddedRedis) -> redis.Redis:
    return redis.Redis.from_url(server.url)


def test_streams_work_and_nothing_is_written(server):
    server_says = client(server)
    server_says.xadd("events", {"text": "a"})

    assert server_says.xlen("events") == 1
    assert server_says.config_get("appendonly") == {"appendonly": "no"}
    assert server_says.config_get("save") == {"save": ""}
    assert server_says.config_get("bind") == {"bind": "127.0.0.1"}


def test_a_stop_and_a_start_keep_the_url_and_no_keys(server):
    client(server).set("a", CANARY)
    url = server.url
    server.stop()
    assert running_url(server.home) is None
    server.start()

    assert server.url == url == running_url(server.home)
    assert client(server).get("a") is None
    assert not [path for path in files(server) if CANARY.encode() in path.read_bytes()]


def test_a_server_that_was_killed_starts_again_at_its_url(server):
    client(server).set("a", CANARY)
    url = server.url
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    assert running_url(server.home) is None
    server.start()

    assert (server.url, client(server).dbsize()) == (url, 0)


@pytest.mark.security
def test_what_redis_writes_when_told_to_is_for_nobody_else(tmp_path):
    before = os.umask(0o022)
    server = EmbeddedRedis(tmp_path)
    try:
        server.start()
        client(server).set("a", CANARY)
        client(server).save()
        client(server).config_set("appendonly", "yes")
    finally:
        os.umask(before)
        server.stop()

    assert {"dump.rdb", "redis.log"} <= {path.name for path in files(server)}
    assert [path for path in files(server) if path.stat().st_mode & 0o077] == []


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
