"""`colloquy doctor`: what is well is said, and what is not, with what to do."""

from pathlib import Path

import httpx
from sqlalchemy import create_engine

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.servers.bucket import serve_bucket
from tests.stack import Servers, Stack

PARTS = ["settings", "database", "roles", "clock", "Redis", "installation", "key", "disk",
         "workers", "sources", "versions"]  # fmt: skip


def test_each_part_is_checked_by_itself(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path) as stack:
        well = stack.run("-m", "backend.operations.doctor")
        stack.kill_workers()
        (tmp_path / "installation").write_text("an older one")
        name = {"application_name": "colloquy worker 0001 elsewhere.7"}
        older = create_engine(stack.database_url, connect_args=name).connect()
        ready = f"{stack.base_url}/readyz"
        stack.wait_for(lambda: httpx.get(ready).status_code == 503, "a dead worker counts")
        unwell = stack.run("-m", "backend.operations.doctor")
        older.close()

    lines = well[1].splitlines()
    assert well[0] == 0, well[1]
    assert [line.split()[0] for line in lines] == ["ok"] * len(PARTS)
    assert [line.split()[1].rstrip(":") for line in lines] == PARTS
    failed = [line for line in unwell[1].splitlines() if line.startswith("FAIL")]
    assert unwell[0] == 1, unwell[1]
    assert "FAIL installation: DATA_DIR" in failed[0]
    assert "FAIL workers: none is alive" in failed[1]
    assert "FAIL versions: of an older version: worker elsewhere.7 (schema 0001)" in failed[2]


def test_a_host_whose_sources_are_not_those_of_a_worker_is_told(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    for name in ("s3", "one", "other"):
        (tmp_path / name).mkdir()
    for name in ("one", "other"):
        (tmp_path / name / "sources").mkdir()
    (tmp_path / "one" / "sources" / "plan.csv").write_text("a,b\n1,2\n")

    def doctor(stack: Stack) -> str:
        known = lambda: all(  # noqa: E731
            one["sources"] for one in stack.client.get("/work").json()["workers"]
        )
        stack.wait_for(known, "the worker does not say which sources it has")
        lines = stack.run("-m", "backend.operations.doctor")[1].splitlines()
        return next(line for line in lines if line[5:].startswith("sources"))

    with (
        serve_bucket(tmp_path / "s3") as (_, bucket),
        make_stack(servers, model, tmp_path / "one", **bucket) as stack,
    ):
        same = doctor(stack)
        stack.kill_workers()
        stack.wait_for(
            lambda: not stack.client.get("/work").json()["workers"], "a dead worker counts"
        )
        stack.workers.append(stack.start("-m", "worker", DATA_DIR=str(tmp_path / "other")))
        stack.wait_ready()
        lacking = doctor(stack)
        worker = stack.client.get("/work").json()["workers"][0]["name"]

    assert same.startswith("ok   sources: ")
    assert lacking.startswith(f"FAIL sources: this host's are not those of {worker}. Mount")
