"""What hosts without containers are given: units of systemd, proxies, alerts and the dashboard."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.certificates import certificate_for
from tests.shipped import DEPLOY, ROOT, run

ALERTS = DEPLOY / "prometheus" / "alerts.yaml"
FIGURE = re.compile(r"\bcolloquy_\w+")
JOB = re.compile(r'job="([^"]+)"')
PART_OF = re.compile(r"_seconds_(?:bucket|count|sum)$")  # of a histogram


@pytest.mark.parametrize(
    "unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda x: x.name
)
def test_a_unit_of_systemd_is_valid(unit, tmp_path):
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/colloquy/.venv/bin/python", sys.executable))

    assert run("systemd-analyze", "verify", copy) == ""


def with_certificate(text: str, folder: Path) -> str:
    (folder / "desk.pem").write_bytes(certificate_for("desk.example.com"))
    return re.sub(r"/etc/(?:haproxy|nginx)/desk\.(?:pem|crt|key)", str(folder / "desk.pem"), text)


def test_the_example_for_haproxy_is_valid(tmp_path):
    file = tmp_path / "haproxy.cfg"
    file.write_text(with_certificate((DEPLOY / "haproxy" / "haproxy.cfg").read_text(), tmp_path))

    assert "warning" not in run("haproxy", "-c", "-f", file).lower()


def test_the_example_for_nginx_is_valid(tmp_path):
    text = with_certificate((DEPLOY / "nginx" / "colloquy.conf").read_text(), tmp_path)
    # It binds while it checks.
    text = re.sub(
        r"listen (?:[\d.]+:)?(\d+)", lambda found: f"listen 127.0.0.1:4{found[1]:0>4}", text
    )
    (tmp_path / "colloquy.conf").write_text(text)
    file = tmp_path / "nginx.conf"
    file.write_text(f"pid {tmp_path}/pid; events {{}} http {{ include {tmp_path}/colloquy.conf; }}")

    assert "is successful" in run("nginx", "-t", "-c", file, "-e", tmp_path / "errors")


# --- figures ---


def told() -> dict[str, bool]:
    """The figures that operators are told of, each with whether it has an alarm.

    `tests/integration/api/test_server.py` shows that these are the ones that are exported.
    """
    rows = re.findall(
        r"^\| (`colloquy_.*)", (ROOT / "docs/operations.md").read_text(), re.MULTILINE
    )
    cells = [row.split("|") for row in rows]
    return {name: bool(cell[2].strip()) for cell in cells for name in FIGURE.findall(cell[0])}


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    read: list[dict[str, Any]] = group["rules"]
    return read


def panels() -> list[str]:
    board = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]


def test_each_figure_with_an_alarm_has_a_rule_and_each_rule_has_a_figure_that_exists():
    watched = {name for rule in rules() for name in FIGURE.findall(rule["expr"])}
    # Explained by the one beside it in its row.
    explained = {"colloquy_pending_approvals"}

    assert len(told()) > 20
    assert {name for name, has_alarm in told().items() if has_alarm} - explained <= watched
    assert watched <= told().keys()


def test_the_dashboard_shows_each_figure_with_an_alarm_and_none_that_does_not_exist():
    shown = {PART_OF.sub("_seconds", name) for text in panels() for name in FIGURE.findall(text)}

    assert {name for name, has_alarm in told().items() if has_alarm} <= shown <= told().keys()


def test_the_scrapes_are_valid_also_those_of_containers(tmp_path):
    written = (DEPLOY / "prometheus" / "scrape.yaml").read_text()
    # A promtool of Debian knows nothing of Kubernetes.
    of_containers, _, _ = written.partition("    # Pods of")
    text = re.sub("^    # (dns_sd_configs:|  - )", r"    \1", of_containers, flags=re.MULTILINE)
    (file := tmp_path / "scrape.yaml").write_text(text)

    assert yaml.safe_load(text)["scrape_configs"][1]["dns_sd_configs"][0]["names"] == ["worker"]
    assert "SUCCESS" in run("promtool", "check", "config", "--syntax-only", file)


def test_the_scrapes_have_the_names_that_rules_and_dashboard_look_for():
    scrapes = yaml.safe_load((DEPLOY / "prometheus" / "scrape.yaml").read_text())
    jobs = [one["job_name"] for one in scrapes["scrape_configs"]]
    watched = set(re.findall(r'job="([^"]+)"', " ".join(rule["expr"] for rule in rules())))
    board = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    (job,) = (one for one in board["templating"]["list"] if one["name"] == "job")
    shown = {name.replace("${job}", "$job") for text in panels() for name in JOB.findall(text)}

    assert jobs == ["colloquy", "colloquy-workers"]
    assert watched == {job["current"]["value"]} == {"colloquy"}
    assert shown == {name.replace("colloquy", "$job") for name in jobs}
    assert scrapes["rule_files"] == [ALERTS.name]


def test_a_rule_says_what_is_wrong_and_what_to_do():
    names = [rule["alert"] for rule in rules()]

    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"].keys() == {"summary", "action"}


# A day on which every rule has a reason: value at first, and its growth in each minute.
BAD_DAY = {
    'up{job="colloquy"}': "0x60",
    'colloquy_up{part="redis"}': "0x60",
    "colloquy_workers": "0x60",
    "colloquy_worker_turns": "100x60",
    "colloquy_worker_capacity": "100x60",
    "colloquy_oldest_waiting_seconds": "31x60",
    "colloquy_oldest_held_back_seconds": "301x60",
    "colloquy_oldest_turn_seconds": "14401x60",
    "colloquy_longest_silence_seconds": "11x60",
    "colloquy_overdue_leases": "1x60",
    "colloquy_stopping_turns": "1x60",
    "colloquy_turns_waiting_for_model": "4x60",
    'colloquy_turns{status="running"}': "10x60",
    "colloquy_oldest_approval_seconds": "28801x60",
    'colloquy_hour_turns{status="failed"}': "6x60",
    'colloquy_hour_turns{status="succeeded"}': "94x60",
    "colloquy_hour_lost_workers": "1x60",
    'colloquy_hour_recovery_seconds{quantile="0.5"}': "6x60",
    'colloquy_hour_stop_seconds{quantile="0.99"}': "6x60",
    "colloquy_hour_model_retries": "21x60",
    "colloquy_hour_unknown_outcomes": "1x60",
    "colloquy_worker_loop_silence_seconds": "11x60",
    'colloquy_events_dropped_total{process="api"}': "0+1x60",
    "colloquy_waiting_requests": "801x60",
    "colloquy_event_streams": "481x60",
    'colloquy_problems_total{status="503"}': "0+10x60",
}
# One on which none has.
GOOD_DAY = dict.fromkeys(BAD_DAY, "0x60") | {
    'up{job="colloquy"}': "1x60",
    'colloquy_up{part="redis"}': "1x60",
    "colloquy_workers": "2x60",
    "colloquy_worker_turns": "99x60",
    "colloquy_worker_capacity": "200x60",
    "colloquy_oldest_waiting_seconds": "30x60",
    "colloquy_oldest_held_back_seconds": "300x60",
    "colloquy_longest_silence_seconds": "10x60",
    'colloquy_turns{status="running"}': "10x60",
    "colloquy_turns_waiting_for_model": "3x60",
    'colloquy_hour_turns{status="failed"}': "5x60",
    'colloquy_hour_turns{status="succeeded"}': "95x60",
    "colloquy_hour_model_retries": "20x60",
    "colloquy_waiting_requests": "800x60",
    "colloquy_event_streams": "480x60",
    'colloquy_problems_total{status="503"}': "7x60",
}


@pytest.mark.parametrize("day", [GOOD_DAY, BAD_DAY], ids=["good", "bad"])
def test_on_a_bad_day_each_rule_fires_and_on_a_good_one_none(day, tmp_path):
    fires = [rule["alert"] for rule in rules()] if day is BAD_DAY else []
    samples = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in fires]
    counted = 'count by (alertname) (ALERTS{alertstate="firing"})'
    file = tmp_path / "day.yaml"
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in day.items()],
        "promql_expr_test": [{"expr": counted, "eval_time": "50m", "exp_samples": samples}],
    }
    file.write_text(json.dumps({"rule_files": [str(ALERTS)], "tests": [test]}))

    assert "SUCCESS" in run("promtool", "test", "rules", file)
