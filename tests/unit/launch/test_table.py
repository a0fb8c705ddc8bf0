"""What `make run` starts when nothing is set."""

from pathlib import Path

import pytest

from backend.configuration import read_settings
from backend.settings import UI_PORT, Settings
from launch.errors import LaunchError
from launch.ports import choose_port
from launch.stack import Ports, addresses_of, choose_ports, process_table


def test_two_workers_are_started_by_default(monkeypatch, tmp_path: Path):
    monkeypatch.delenv("WORKERS", raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # without an .env file

    table = process_table(read_settings(), Ports(8501, 8000, None), {})

    started = {part.name: part.command[-1] for part in table if "worker" in part.command}
    assert started == {"worker-1": "worker", "worker-2": "worker"}


def test_api_and_workers_have_a_probe_port_of_their_own_and_their_time_to_end(tmp_path: Path):
    settings = Settings(
        _env_file=None, workers=2, probe_port=9100, grace_seconds=60, data_dir=tmp_path
    )

    table = process_table(settings, Ports(8501, 8000, None), {})

    workers = [part for part in table if "worker" in part.command]
    assert [part.env["PROBE_PORT"] for part in workers] == ["9100", "9101"]
    (api,) = (part for part in table if part.name == "api")
    assert api.env["PROBE_PORT"] == "9102"
    assert all(part.patience_seconds > 60 for part in (api, *workers))


def test_pages_leave_a_port_that_is_set_to_the_api():
    wanted = choose_port("UI_PORT", None, UI_PORT, "127.0.0.1")  # what the pages would have

    ports = choose_ports(Settings(_env_file=None, api_port=wanted))

    assert ports.api == wanted
    assert ports.ui > wanted


def test_one_port_for_both_servers_is_named():
    with pytest.raises(LaunchError, match="UI_PORT and API_PORT are both 8600"):
        choose_ports(Settings(_env_file=None, ui_port=8600, api_port=8600))


def test_a_demo_model_that_runs_elsewhere_is_used(tmp_path: Path):
    url = "http://127.0.0.1:9000"
    settings = Settings(_env_file=None, demo_model_url=url, data_dir=tmp_path, openai_api_key="")

    ports = choose_ports(settings)

    assert ports.demo is None
    assert "demo" not in [part.name for part in process_table(settings, ports, {})]
    assert addresses_of(settings, ports)["DEMO_MODEL_URL"] == url
