"""PostgreSQL with a standby, Redis with a replica under Sentinel, and a bucket."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import psycopg2
import redis
from psycopg2 import sql

from launch.private_files import password_in
from launch.servers.cluster import SUPERUSER, Cluster, create_cluster, locate_cluster
from launch.servers.postgres import DATABASE, PART_ROLES, ROLE, SETTINGS
from launch.servers.redis import find_server
from tests.scale.network import Host
from tests.stack import PROGRAMS

PASSWORD = "of-this-network-only"
PATIENCE_SECONDS = 90
PEERS = "10.0.0.0/24"
BUCKET_PORT = 9000
SENTINEL = """\
port 26379
bind 0.0.0.0
protected-mode no
dir {folder}
sentinel monitor desk {master} 6379 2
sentinel auth-pass desk {password}
sentinel down-after-milliseconds desk 2000
sentinel failover-timeout desk 10000
"""
BARE = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}


def wait_for(is_so: Callable[[], object], complaint: str) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.1)


class PostgresPair:
    """A server whose commits wait until a standby on another host has them too."""

    def __init__(self, first: Host, second: Host, home: Path) -> None:
        self.first, self.second = first, second
        self._cluster = locate_cluster(home)
        self._secret = home / "postgres" / "superuser.password"
        self._standby = self._cluster.folder.with_name("standby")

    def start(self) -> None:
        """Start both, with an empty database that Colloquy's login owns."""
        self._secret.parent.mkdir(parents=True, exist_ok=True)
        create_cluster(self._cluster, self._secret)
        rules = self._cluster.folder / "pg_hba.conf"
        with rules.open("a") as file:
            for kind in ("all", "replication"):
                file.write(f"host {kind} all {PEERS} scram-sha-256\n")
        # Only this one waits for a standby: when that takes over there is none left.
        self._serve(self.first, self._cluster.folder, "--synchronous_standby_names=*")
        wait_for(lambda: self._asks(self.first, "SELECT true"), "PostgreSQL does not answer")
        self._copy()
        self._serve(self.second, self._standby)
        waits = "SELECT true FROM pg_stat_replication WHERE sync_state = 'sync'"
        wait_for(lambda: self._asks(self.first, waits), "the standby does not follow")
        self._make_database()

    @property
    def url(self) -> str:
        """What Colloquy is told: both, of which the one counts that accepts writes."""
        hosts = "&".join(f"host={host.name}:5432" for host in (self.first, self.second))
        options = "target_session_attrs=read-write&connect_timeout=2"
        return f"postgresql+psycopg2://{ROLE}:{PASSWORD}@/{DATABASE}?{hosts}&{options}"

    def fail_over(self) -> None:
        """Cut the first server's host off, and let the standby take over."""
        self.first.cut()
        promote = [self._cluster.program("pg_ctl"), "promote", "-D", self._standby]
        self.second.run(promote, self._cluster.environment, self._cluster.account)
        writes = "SELECT NOT pg_is_in_recovery()"
        wait_for(lambda: self._asks(self.second, writes), "the standby does not take over")
        self.first.kill()

    def _copy(self) -> None:
        self._standby.mkdir(mode=0o700)
        if account := self._cluster.account:
            os.chown(self._standby, account.uid, account.gid)
        command = [
            self._cluster.program("pg_basebackup"), "-R", "-X", "stream", "-D", self._standby,
            "-d", self._dsn(self.first, "replication"),
        ]  # fmt: skip
        self.second.run(command, self._cluster.environment, self._cluster.account, Path("/"))

    def _serve(self, host: Host, folder: Path, *more: str) -> None:
        settings = SETTINGS | {"listen_addresses": "*"}
        options = [f"--{name}={value}" for name, value in settings.items()]
        command = [self._cluster.program("postgres"), "-D", folder, *options, *more]
        cluster: Cluster = self._cluster
        host.start(command, cluster.environment, cluster.account, Path("/"))

    def _make_database(self) -> None:
        connection = psycopg2.connect(self._dsn(self.first, "postgres"))
        connection.autocommit = True
        with connection.cursor() as cursor:
            owner = sql.Identifier(ROLE)
            login = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            cursor.execute(login.format(owner, sql.Literal(PASSWORD)))
            for name in map(sql.Identifier, PART_ROLES):
                cursor.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(name))
                cursor.execute(sql.SQL("GRANT {} TO {}").format(name, owner))
            made = sql.SQL("CREATE DATABASE {} OWNER {}")
            cursor.execute(made.format(sql.Identifier(DATABASE), owner))
        connection.close()

    def _asks(self, host: Host, question: str) -> bool:
        try:
            connection = psycopg2.connect(self._dsn(host, "postgres"))
        except psycopg2.OperationalError:
            return False
        with connection.cursor() as cursor:
            cursor.execute(question)
            found = cursor.fetchone()
        connection.close()
        return bool(found and found[0])

    def _dsn(self, host: Host, database: str) -> str:
        secret = password_in(self._secret)
        where = f"host={host.address} user={SUPERUSER} password={secret} connect_timeout=3"
        return where if database == "replication" else f"{where} dbname={database}"


class RedisUnderSentinel:
    """A Redis with a replica, and three sentinels who agree on which one counts."""

    def __init__(self, first: Host, second: Host, third: Host) -> None:
        self.first, self.second, self._sentinels = first, second, (first, second, third)
        self._program = find_server()

    def start(self) -> None:
        """Start all five."""
        common = ["--port", 6379, "--bind", "0.0.0.0", "--requirepass", PASSWORD, "--masterauth",
                  PASSWORD, "--save", "", "--repl-diskless-sync-delay", 0]  # fmt: skip
        replica_of = ["--replicaof", self.first.address, 6379]
        self._master = self.first.start([self._program, *common], BARE)
        self.second.start([self._program, *common, *replica_of], BARE)
        follows = lambda: self._info(self.second).get("master_link_status") == "up"  # noqa: E731
        wait_for(follows, "the replica does not follow")
        for host in self._sentinels:
            told = host.folder / "sentinel.conf"
            values = {"master": self.first.address, "password": PASSWORD, "folder": host.folder}
            told.write_text(SENTINEL.format(**values))
            host.start([self._program, told, "--sentinel"], BARE)
        wait_for(lambda: all(map(self._knows_others, self._sentinels)), "sentinels do not meet")

    @property
    def url(self) -> str:
        """What Colloquy is told: the sentinels, and the name under which they know it."""
        sentinels = ",".join(f"{host.name}:26379" for host in self._sentinels)
        return f"redis+sentinel://:{PASSWORD}@{sentinels}/desk/0"

    def fail_over(self) -> None:
        """Kill the one that counts; the other takes its place."""
        self._master.kill()
        leads = lambda: self._info(self.second).get("role") == "master"  # noqa: E731
        wait_for(leads, "the replica does not take over")

    def _knows_others(self, host: Host) -> bool:
        client = redis.Redis(host.address, 26379, socket_timeout=2)
        try:
            found = client.sentinel_master("desk")
            return found["num-other-sentinels"] == 2 and found["num-slaves"] == 1
        except redis.RedisError:
            return False
        finally:
            client.close()

    def _info(self, host: Host) -> dict[str, str]:
        client = redis.Redis(host.address, 6379, password=PASSWORD, socket_timeout=2)
        try:
            return client.info("replication")
        except redis.RedisError:
            return {}
        finally:
            client.close()


def start_bucket(host: Host) -> dict[str, str]:
    """Serve a bucket on a host; return the settings that lead there."""
    (host.folder / "s3" / "desk").mkdir(parents=True)
    key, secret = "analyst-key", "analyst-secret"
    command = [
        PROGRAMS / "rclone", "serve", "s3", "--addr", f"0.0.0.0:{BUCKET_PORT}", "--config",
        "/dev/null", "--auth-key", f"{key},{secret}", "--vfs-cache-mode", "off",
        host.folder / "s3",
    ]  # fmt: skip
    host.start(command, BARE | {"HOME": str(host.folder)})
    return {
        "ARTIFACT_STORE": "s3://desk/of/team",
        "ARTIFACT_INLINE_BYTES": "1000",
        "AWS_ENDPOINT_URL": f"http://{host.address}:{BUCKET_PORT}",
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": "us-east-1",
        "SSL_CERT_DIR": "/etc/ssl/certs",
    }
