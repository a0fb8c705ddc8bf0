"""A Redis that refuses REDIS_URL ends the start; one that is away does not."""

from urllib.parse import urlsplit

import pytest

from backend.api.__main__ import main as start_api
from tests.stack import Servers
from worker.__main__ import main as start_worker


@pytest.mark.parametrize("start", [start_api, start_worker])
@pytest.mark.parametrize(
    ("credentials", "number", "reason"),
    [
        (":canary", 0, "invalid username-password pair"),
        (":{password}", 99, "DB index is out of range"),
    ],
)
def test_a_refusing_redis_is_one_sentence(
    servers: Servers, monkeypatch, capsys, tmp_path, start, credentials, number, reason
) -> None:
    url = urlsplit(servers.new_redis())
    login = credentials.format(password=url.password)
    monkeypatch.setenv("REDIS_URL", f"redis://{login}@{url.hostname}:{url.port}/{number}")
    monkeypatch.setenv("DATABASE_URL", servers.new_database())
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["program"])

    assert start() == 2

    (sentence,) = capsys.readouterr().err.splitlines()
    assert f"Redis refuses REDIS_URL: {reason}" in sentence
    assert "canary" not in sentence
