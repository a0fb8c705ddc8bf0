"""REDIS_URL with Sentinels: what it may say, and what of it goes to whom."""

import re

import pytest
from redis.connection import SSLConnection
from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection

from backend.redis.connecting import connect_redis
from backend.redis.url import read_sentinel_url
from tests.processes import ROOT


def test_a_sentinel_url_says_where_they_are_and_what_the_master_is_called():
    found = read_sentinel_url(
        "redis+sentinel://ada:p%40%2F%3A@a:1,b.example,[fd00::5]:3,[::1]/my.m/7"
    )

    assert found.places == (("a", 1), ("b.example", 26379), ("fd00::5", 3), ("::1", 26379))
    assert found.service == "my.m"
    assert found.options == {"username": "ada", "password": "p@/:", "db": 7}
    assert found.sentinel_options == {}


def test_the_sentinels_have_a_login_of_their_own_and_the_same_certificates():
    found = read_sentinel_url(
        "rediss+sentinel://:server@a,b/m?sentinel_username=eve&sentinel_password=s%25"
        "&ssl_ca_certs=/etc/ssl/desk.crt&socket_timeout=7"
    )

    certificates = {"ssl_ca_certs": "/etc/ssl/desk.crt"}
    assert found.options == {"password": "server", "db": 0, "socket_timeout": 7.0, **certificates}
    assert found.sentinel_options == {
        "username": "eve", "password": "s%", "ssl": True, **certificates
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scheme", "kind"),
    [("redis", SentinelManagedConnection), ("rediss", SentinelManagedSSLConnection)],
)
def test_the_scheme_says_whether_connections_are_encrypted(scheme, kind):
    client = connect_redis(f"{scheme}+sentinel://a,b/m/0", threads=1)

    assert isinstance(client.connection_pool.make_connection(), kind)
    is_encrypted = kind is SentinelManagedSSLConnection
    for sentinel in client.connection_pool.sentinel_manager.sentinels:
        connection = sentinel.connection_pool.make_connection()
        assert isinstance(connection, SSLConnection) == is_encrypted


def test_one_function_makes_all_clients():
    makes = re.compile(r"\bRedis(\.from_url)?\(|ConnectionPool\b|\.master_for\(")

    places = [
        path for part in ("backend", "worker", "ui", "db") for path in (ROOT / part).rglob("*.py")
    ]

    making = [path for path in places if makes.search(path.read_text())]
    assert [path.relative_to(ROOT).as_posix() for path in making] == ["backend/redis/connecting.py"]
