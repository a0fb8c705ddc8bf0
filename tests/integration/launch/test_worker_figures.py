"""A worker tells Prometheus of the turns that it runs, on its probe's port."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from backend.version import VERSION
from tests.conftest import make_stack
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import make_session, stop, tool_domain, wait_for_event
from tests.processes import ROOT, free_port
from tests.stack import Servers, Stack

FAMILY = re.compile(r"_(?:bucket|count|sum|created)$")
OPERATIONS = ROOT / "docs" / "operations.md"


class Scraped:
    """A stack whose one worker is scraped."""

    def __init__(self, stack: Stack, port: int) -> None:
        self.stack, self._url = stack, f"http://127.0.0.1:{port}/metrics"

    @property
    def samples(self) -> dict[str, float]:
        answer = httpx.get(self._url)
        assert answer.headers["content-type"].startswith("text/plain"), answer.text
        lines = (line for line in answer.text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def counts(self, name: str, times: int = 1) -> dict[str, float]:
        """Wait until something has been counted so often; give all samples then."""
        return self.stack.wait_for(
            lambda: (now := self.samples).get(name) == times and now, f"{name} is not {times}"
        )


@pytest.fixture
def scraped(servers: Servers, model: ScriptedModel, tmp_path: Path) -> Iterator[Scraped]:
    port = free_port()
    settings = {"PROBE_PORT": str(port), "LEASE_SECONDS": "300"}
    with make_stack(servers, model, tmp_path, **settings) as stack:
        yield Scraped(stack, port)


def test_turns_and_their_calls_are_counted_by_how_they_ended(scraped: Scraped) -> None:
    stack = scraped.stack

    def look(name: str, arguments: dict[str, str]) -> str:
        if arguments.get("at") == "nothing":
            raise ValueError("there is nothing")
        return "found"

    calls = [
        {"tools": [{"name": "look", "args": {}}]},
        {"tools": [{"name": "look", "args": {"at": "nothing"}}]},
        {"text": "There it is."},
    ]
    with tool_domain(stack, look, "look") as (domain, _):
        session = make_session(stack, domain["name"])
        assert stack.finished(stack.submit(script(*calls), session)["turn_id"])["status"] == (
            "succeeded"
        )
    stack.finished(stack.submit(script({"status": 401, "text": "no such key"}))["turn_id"])
    stopped = stack.submit(script({"text": "word " * 400, "delay": 0.05}))
    wait_for_event(stack, stopped["session_id"], "text_delta")
    stop(stack, stopped["turn_id"])

    samples = scraped.counts('colloquy_turn_seconds_count{status="stopped"}')

    assert samples['colloquy_turn_seconds_count{status="succeeded"}'] == 1
    assert samples['colloquy_turn_seconds_count{status="failed"}'] == 1
    # The failed one has said nothing.
    assert samples["colloquy_first_token_seconds_count"] == 2
    results = {"ok": 3, "failed": 1, "stopped": 1}
    for result, times in results.items():
        label = f'{{model="scripted",result="{result}"}}'
        assert samples[f"colloquy_model_call_seconds_count{label}"] == times
        assert samples[f"colloquy_model_call_seconds_sum{label}"] > 0
    for result in ("ok", "failed"):
        label = f'{{result="{result}",tool="mcp:tools"}}'
        assert samples[f"colloquy_tool_call_seconds_count{label}"] == 1
    assert samples[f'colloquy_build_info{{version="{VERSION}"}}'] == 1
    assert samples["process_resident_memory_bytes"] > 0


def test_the_wait_for_a_worker_counts_as_people_have_felt_it(
    scraped: Scraped,
) -> None:
    stack = scraped.stack
    stack.kill_workers()
    waits = stack.submit(script({"text": "two"}))
    # As if nobody had worked on it for an hour, by the database's clock.
    stack.query_and_commit("UPDATE turns SET created_at = created_at - interval '1 hour'")
    stack.start_worker()
    assert stack.finished(waits["turn_id"])["status"] == "succeeded"

    samples = scraped.counts('colloquy_turn_seconds_count{status="succeeded"}')

    assert samples['colloquy_turn_seconds_sum{status="succeeded"}'] >= 3_600
    assert samples["colloquy_first_token_seconds_sum"] >= 3_600
    assert samples["colloquy_first_token_seconds_count"] == 1


def test_every_figure_of_workers_that_operators_are_told_of_is_there(scraped: Scraped) -> None:
    _, _, section = OPERATIONS.read_text().partition("**Figures of each worker.**")
    told = set(re.findall(r"^\| `(colloquy_\w+)", section.partition("\n## ")[0], re.MULTILINE))
    with tool_domain(scraped.stack, lambda *_: "found", "look") as (domain, _):
        session = make_session(scraped.stack, domain["name"])
        calls = ({"tools": [{"name": "look", "args": {}}]}, {"text": "there"})
        scraped.stack.finished(scraped.stack.submit(script(*calls), session)["turn_id"])
    samples = scraped.counts('colloquy_turn_seconds_count{status="succeeded"}')

    names = {FAMILY.sub("", name.partition("{")[0]) for name in samples}

    assert told == {name for name in names if name.startswith("colloquy_")}
    assert len(told) == 5
