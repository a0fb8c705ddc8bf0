"""The command brings its own database where Colloquy does not run."""

import os
import subprocess
import sys
from pathlib import Path

from launch.servers.postgres import running_url
from tests.integration.launch.launchers import passable_folder
from tests.integration.legacy.kinds import read_report
from tests.processes import ROOT
from tests.samples.legacy import Sample, said

COMMAND = (
    "import sys; from launch.commands import migrate_legacy as run; sys.exit(run(sys.argv[1:]))"
)


def test_the_embedded_database_is_started_and_stopped_again(tmp_path: Path) -> None:
    sample = Sample(tmp_path / "old.sqlite")
    sample.domain("d1")
    sample.image("img_1", "sess_1", messages=said("Hello", "Hi"))
    sample.row("c1", "img_1")
    sample.done()
    with passable_folder() as data_dir:
        environment = {**os.environ, "DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT)}
        for name in ("DATABASE_URL", "REDIS_URL"):
            environment.pop(name, None)
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, "old.sqlite"],
            cwd=tmp_path, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert running_url(data_dir) is None

    assert done.returncode == 0, done.stdout + done.stderr
    assert "its database is started for this" in done.stdout
    [row] = read_report(tmp_path / "legacy-report.json")["rows"]
    assert (row["outcome"], row["messages"], row["taken"]) == ("kept", 2, "now")
