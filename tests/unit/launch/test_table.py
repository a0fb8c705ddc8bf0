"""What `make run` starts when nothing is set."""

from pathlib import Path

from backend.configuration import read_settings
from launch.stack import Ports, process_table


def test_two_workers_are_started_by_default(monkeypatch, tmp_path: Path):
    monkeypatch.delenv("WORKERS", raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # without an .env file

    table = process_table(read_settings(), Ports(8501, 8000, None), {})

    started = {part.name: part.command[-1] for part in table if "worker" in part.command}
    assert started == {"worker-1": "worker", "worker-2": "worker"}
