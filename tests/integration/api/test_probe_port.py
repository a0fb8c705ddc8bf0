"""The API's probes and figures on a port of their own, for who is let in there."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import create_engine, make_url, text

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.processes import free_port
from tests.stack import Servers, Stack

ELSEWHERE = {"Host": "10.1.2.3:9100"}


class Probed:
    """An API with accounts at every address, and no worker."""

    def __init__(self, stack: Stack, port: int) -> None:
        self.stack, self.url = stack, f"http://127.0.0.1:{port}"

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", headers=ELSEWHERE, timeout=10)


@pytest.fixture
def probed(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Probed]:
    settings = {"AUTH": "local", "HOST": "0.0.0.0", "STOP_DELAY_SECONDS": "5"}
    stack = make_stack(servers, model, tmp_path, **settings)
    stack.api_probe_port = str(port := free_port())
    try:
        stack.start_api()
        yield Probed(stack, port)
    finally:
        stack.__exit__()


def take_away(servers: Servers, url: str) -> None:
    """End the connections to a database, and accept no other."""
    database = make_url(url).database
    admin = create_engine(servers.postgres.superuser_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f'ALTER DATABASE "{database}" CONNECTION LIMIT 0'))
        ends = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name")
        connection.execute(ends, {"name": database})
    admin.dispose()


def test_it_serves_without_a_worker_and_says_that_there_is_none(probed: Probed) -> None:
    ready = probed.get("/readyz")
    at_its_own_port = httpx.get(f"{probed.stack.base_url}/readyz")

    assert ready.status_code == 200
    assert ready.json() == {
        "api": "ok", "database": "ok", "redis": "ok",
        "worker": "no live worker: start one with `make worker`",
    }  # fmt: skip
    assert at_its_own_port.status_code == 503
    assert at_its_own_port.json()["worker"] == "not ok"
    assert "server" not in ready.headers


def test_without_redis_it_serves_and_without_the_database_it_does_not(
    probed: Probed, servers: Servers
) -> None:
    stack = probed.stack
    servers.stop_redis(stack.redis_url)
    without_redis = probed.get("/readyz")
    take_away(servers, stack.database_url)
    without_database = probed.get("/readyz")

    assert without_redis.status_code == 200
    assert without_redis.json()["redis"].startswith("does not answer")
    assert without_database.status_code == 503
    assert without_database.json()["database"].startswith("does not answer")


def test_figures_are_told_there_without_a_token_and_elsewhere_with_one(probed: Probed) -> None:
    told = probed.get("/metrics")

    assert told.status_code == 200
    assert "colloquy_workers 0.0" in told.text
    assert httpx.get(f"{probed.stack.base_url}/metrics").status_code == 401
    elsewhere = httpx.get(f"{probed.stack.base_url}/healthz", headers=ELSEWHERE)
    assert elsewhere.status_code in (400, 421)
    assert probed.get("/api/v1/sessions").status_code == 404


def test_it_is_told_that_the_api_stops_until_it_has(probed: Probed) -> None:
    api = probed.stack.api
    assert api is not None
    api.terminate()

    stopping = probed.stack.wait_for(
        lambda: (answer := probed.get("/readyz")).status_code == 503 and answer, "it stays ready"
    )

    assert stopping.json()["api"] == "stopping"
    assert probed.get("/healthz").json() == {"status": "alive"}
    assert api.wait(timeout=60) is not None


def test_a_port_that_is_taken_is_refused_in_a_sentence(probed: Probed) -> None:
    port = probed.stack.api_probe_port
    second = Stack(probed.stack.database_url, probed.stack.redis_url, probed.stack.log.parent)
    second.environment |= {"PROBE_PORT": port}
    ended, said = second.run("-m", "backend.api", "--port", str(free_port()))

    assert ended == 2
    assert said.splitlines()[-1].startswith("PROBE_PORT: the API cannot listen on 127.0.0.1")
