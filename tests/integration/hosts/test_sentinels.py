"""Redis behind Sentinels: what is lost with a master is found again at the next one."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from backend.storage.belonging import REDIS_KEY
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import wait_for_event
from tests.servers.sentinels import PASSWORD, SENTINEL_PASSWORD, SERVICE, Sentinels, run_sentinels
from tests.stack import Servers, Stack

WORDS = "word " * 60
SLOWLY = script({"text": WORDS, "delay": 0.05})


@pytest.fixture
def sentinels(tmp_path: Path) -> Iterator[Sentinels]:
    with run_sentinels(tmp_path) as running:
        yield running


@pytest.fixture
def watched(
    servers: Servers, model: ScriptedModel, sentinels: Sentinels, tmp_path: Path
) -> Iterator[Stack]:
    """A stack whose Redis is found by Sentinels."""
    (home := tmp_path / "home").mkdir()
    with Stack(
        servers.new_database(), sentinels.url(), home,
        OPENAI_BASE_URL=model.url, OPENAI_API_KEY="test", MODEL="scripted",
    ) as running:  # fmt: skip
        yield running


def ask_for_another(sentinels: Sentinels) -> None:
    sentinels.ask("FAILOVER")


def kill_master(sentinels: Sentinels) -> None:
    sentinels.servers[sentinels.master].kill()


def freeze_master(sentinels: Sentinels) -> None:
    """Leave its connections open, as a host does that is cut off."""
    sentinels.servers[sentinels.master].send_signal(signal.SIGSTOP)


@pytest.mark.parametrize(
    "lose_master",
    [ask_for_another, kill_master, pytest.param(freeze_master, marks=pytest.mark.chaos)],
)
def test_turns_and_live_events_go_on_at_the_next_master(
    watched: Stack, sentinels: Sentinels, lose_master: Callable[[Sentinels], None]
) -> None:
    first = sentinels.master
    turn = watched.submit(SLOWLY)
    wait_for_event(watched, turn["session_id"], "text_delta")

    lose_master(sentinels)
    watched.wait_for(lambda: sentinels.master != first, "no other master is chosen")

    ended = watched.finished(turn["turn_id"])
    assert (ended["status"], ended["attempts"]) == ("succeeded", 1)

    def flows() -> bool:
        """Whether an event comes that only Redis brings, in a turn that Redis has woken."""
        following = watched.submit(script({"text": "again"}), turn["session_id"])
        with watched.events(turn["session_id"]) as events:
            names = (event["event"] for event in events)
            is_live = "text_delta" in iter(lambda: next(names), "turn_finished")
        return watched.finished(following["turn_id"])["status"] == "succeeded" and is_live

    watched.wait_for(flows, "no live events come")
    watched.wait_ready()
    (installation,) = watched.query("SELECT id FROM installation")[0]
    assert sentinels.server(sentinels.master).get(REDIS_KEY) == str(installation).encode()
    assert "Traceback" not in watched.log.read_text()


def test_readiness_names_the_sentinels_that_do_not_answer(
    watched: Stack, sentinels: Sentinels
) -> None:
    sentinels.stop()

    def says() -> str:
        said: str = httpx.get(f"{watched.base_url}/readyz").json()["redis"]
        return said if "Sentinel" in said else ""

    said = watched.wait_for(says, "the Sentinels are not named")
    assert said.startswith(f"no Sentinel names the master {SERVICE}: ")
    assert all(
        f"127.0.0.1:{port} does not answer (Connection refused)" in said
        for port in sentinels.sentinels
    )
    assert SENTINEL_PASSWORD not in watched.log.read_text()


def test_what_sentinels_or_their_master_refuse_ends_the_start(
    servers: Servers, sentinels: Sentinels, tmp_path: Path
) -> None:
    def refusal(url: str) -> str:
        ended, said = Stack(servers.new_database(), url, tmp_path).run("-m", "worker")
        assert ended == 2
        assert not {PASSWORD, SENTINEL_PASSWORD, "canary"} & set(said.split())
        return said

    unknown = sentinels.url().replace(f"/{SERVICE}/", "/other/")
    of_server = sentinels.url().replace("redis+sentinel://:", "redis+sentinel://:canary")

    assert "REDIS_URL: no Sentinel names the master other: " in refusal(unknown)
    assert "knows none of that name" in refusal(unknown)
    assert "refuses (" in refusal(sentinels.url(sentinel_password="canary"))
    assert "Redis refuses REDIS_URL: invalid username-password pair" in refusal(of_server)
