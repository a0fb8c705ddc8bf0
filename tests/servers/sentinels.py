"""A Redis with a replica, and three Sentinels that choose the master, all with passwords."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from redis import Redis, RedisError

from launch.servers.redis import find_server
from tests.processes import free_port
from tests.stack import PATIENCE_SECONDS

SERVICE = "desk"
PASSWORD, SENTINEL_PASSWORD = "of:the@server", "of/the?sentinels"
COMMON = """\
bind 127.0.0.1
port {port}
dir "{folder}"
loglevel notice
"""
SERVER = f"""\
requirepass "{PASSWORD}"
masterauth "{PASSWORD}"
repl-diskless-sync-delay 0
save ""
"""
SENTINEL = f"""\
requirepass "{SENTINEL_PASSWORD}"
sentinel sentinel-pass "{SENTINEL_PASSWORD}"
sentinel monitor {SERVICE} 127.0.0.1 {{master}} 2
sentinel auth-pass {SERVICE} "{PASSWORD}"
sentinel down-after-milliseconds {SERVICE} 500
sentinel failover-timeout {SERVICE} 4000
"""


class Sentinels:
    """Two servers of Redis and three Sentinels: their processes, by their ports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.servers: dict[int, subprocess.Popen[bytes]] = {}
        self.sentinels: dict[int, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all of them: first the master, then who follows it, then who asks it for both."""
        master, replica = free_port(), free_port()
        self.servers[master] = self._start(master, SERVER)
        self.servers[replica] = self._start(replica, f"{SERVER}replicaof 127.0.0.1 {master}\n")
        wait_for(partial(self._follows, replica), "the replica does not follow")
        for _ in range(3):
            port = free_port()
            self.sentinels[port] = self._start(port, SENTINEL.format(master=master), "--sentinel")
        wait_for(self._know_all, "the Sentinels do not find each other")

    def stop(self) -> None:
        for process in [*self.servers.values(), *self.sentinels.values()]:
            process.kill()
            process.wait()

    def url(self, **parameters: str) -> str:
        """Return the URL that a person would write."""
        places = ",".join(f"127.0.0.1:{port}" for port in self.sentinels)
        said = {"sentinel_password": SENTINEL_PASSWORD, **parameters}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in said.items())
        login = f":{quote(PASSWORD, safe='')}@"
        return f"redis+sentinel://{login}{places}/{SERVICE}/1?{query}"

    def server(self, port: int) -> Redis:
        """Return a client of one of the two servers."""
        return Redis(port=port, db=1, password=PASSWORD, socket_timeout=2)

    def ask(self, *words: str) -> Any:
        """Ask each Sentinel; return what the first that answers says."""
        for port in self.sentinels:
            try:
                with Redis(port=port, password=SENTINEL_PASSWORD, socket_timeout=2) as client:
                    return client.execute_command("SENTINEL", *words, SERVICE)
            except RedisError:
                continue
        return None

    @property
    def master(self) -> int:
        """The port of the server that the Sentinels call the master."""
        return int(self.ask("GET-MASTER-ADDR-BY-NAME")[1])

    def _follows(self, port: int) -> bool:
        try:
            return self.server(port).info("replication")["master_link_status"] == "up"
        except RedisError:
            return False

    def _know_all(self) -> bool:
        """Return whether each Sentinel knows the others and the replica."""
        try:
            states = [self._state_at(port) for port in self.sentinels]
        except RedisError:
            return False
        return all((one["num-other-sentinels"], one["num-slaves"]) == (2, 1) for one in states)

    def _state_at(self, port: int) -> dict[str, Any]:
        with Redis(port=port, password=SENTINEL_PASSWORD, socket_timeout=2) as client:
            return client.sentinel_master(SERVICE)

    def _start(self, port: int, lines: str, *options: str) -> subprocess.Popen[bytes]:
        folder = self._folder / str(port)
        folder.mkdir()
        file = folder / "redis.conf"
        file.write_text(COMMON.format(port=port, folder=folder) + lines)
        with (folder / "log").open("wb") as log:
            return subprocess.Popen([find_server(), file, *options], stdout=log, stderr=log)


@contextmanager
def run_sentinels(folder: Path) -> Iterator[Sentinels]:
    """Run them until the end of the block."""
    running = Sentinels(folder)
    try:
        running.start()
        yield running
    finally:
        running.stop()


def wait_for(is_so: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.05)
