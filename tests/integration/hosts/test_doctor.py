"""`colloquy doctor`: what is well is said, and what is not, with what to do."""

from pathlib import Path

import httpx
from sqlalchemy import create_engine

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.stack import Servers

PARTS = ["settings", "database", "roles", "clock", "Redis", "installation", "key", "disk",
         "workers", "versions"]  # fmt: skip


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
