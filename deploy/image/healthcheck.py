"""The health check of a container: `python deploy/image/healthcheck.py [api | ui | worker]`.

It ends with 0 if the part is well. Without an argument the part is the one that the container was
started with.
"""

import http.client
import os
import socket
import sys
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

# Of an HTTP server: the setting of its port, and the path that says that it is alive.
SERVERS = {"api": ("API_PORT", "/healthz"), "ui": ("UI_PORT", "/_stcore/health")}
HEARTBEATS = "colloquy:worker:"  # as `backend.operations.workers` names them; they end after 8 s
SECONDS = 5


def is_well(part: str) -> bool:
    """Return whether this container's part is well; what ends by itself always is."""
    if part in SERVERS:
        setting, path = SERVERS[part]
        return answers(int(os.environ[setting]), path)
    return part != "worker" or beats(os.environ["REDIS_URL"], socket.gethostname())


def answers(port: int, path: str) -> bool:
    """Return whether the server on this port answers, at the loopback name that it accepts."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def beats(redis_url: str, host: str) -> bool:
    """Return whether a worker of this host has told Redis a moment ago that it lives."""
    redis = Redis.from_url(redis_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
    try:
        return any(True for _ in redis.scan_iter(f"{HEARTBEATS}{host}.*", count=1_000))
    except RedisError:
        return False


def started_with() -> str:
    """Return the last argument of the container's first process, which is the part's name."""
    return Path("/proc/1/cmdline").read_text().rstrip("\0").rpartition("\0")[2]


if __name__ == "__main__":
    sys.exit(not is_well(sys.argv[1] if sys.argv[1:] else started_with()))
