"""A host over PostgreSQL; tests may ask for one over SQLite instead."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.kit.host import Host
from tests.stack import Servers


@pytest.fixture(scope="session")
def postgres_host(servers: Servers) -> Iterator[Host]:
    host = Host(servers.new_database().replace("postgresql://", "postgresql+psycopg2://"))
    yield host
    host.engine.dispose()


@pytest.fixture
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    if getattr(request, "param", "postgresql") == "postgresql":
        yield request.getfixturevalue("postgres_host")
        return
    host = Host(f"sqlite:///{tmp_path / 'host.sqlite'}")
    yield host
    host.engine.dispose()
