"""Colloquy on three hosts, as `deploy/` describes it, behind HAProxy."""

import os
import re
import shutil
import signal
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path

import httpx
from dotenv import dotenv_values

from db.schema import REVISIONS
from tests.certificates import certificate_for
from tests.integration.people.people import PASSWORD
from tests.processes import ROOT
from tests.scale.network import HERE, Host
from tests.scale.stores import wait_for

DEPLOY = ROOT / "deploy"
PEOPLE_GO_TO, API = "https://desk.example.com", "http://api.desk.internal:8000"
UI_PORT, API_PORT, API_PROBE_PORT, PROBE_PORT = 8501, 8000, 9100, 9101
PARTS = {"api": API_PORT, "ui": UI_PORT}
PROBE_PORTS = {"api": API_PROBE_PORT, "worker": PROBE_PORT}
CODE = ("backend", "db", "deploy", "kit", "launch", "ui", "worker")
MIGRATION = '''"""A column that the version before does not know."""

from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
    """Add it."""
    op.execute("ALTER TABLE turns ADD COLUMN at_noon integer")
'''


class Fleet:
    """Pages and API on two hosts, workers on these and a third; one host has HAProxy alone."""

    def __init__(
        self, door: Host, hosts: list[Host], settings: Mapping[str, str], home: Path
    ) -> None:
        self.door, self.hosts, self._home = door, hosts, home
        self._code = ROOT
        self._parts: dict[tuple[str, str], subprocess.Popen[bytes]] = {}
        shipped = dotenv_values(DEPLOY / "systemd" / "colloquy.env.example")
        self._settings = {
            **{name: value for name, value in shipped.items() if value},
            **settings,
            "ENCRYPTION_KEY": urlsafe_b64encode(os.urandom(32)).decode(),
            "OPENAI_API_KEY": "test",
            "MODEL": "scripted",
            "OUTGOING_ALLOWED": HERE,  # where this process has its model and its tools
            "WORKER_TURNS": "6",
            "DATABASE_CONNECTIONS": "14",
            "LOG_FORMAT": "json",
        }

    def start(self) -> None:
        """Migrate, start every part, and wait until people can come in."""
        self.hosts[0].run(*self._command(self.hosts[0], "migrate"))
        for host in self.hosts[:2]:
            for part in PARTS:
                self.start_part(host, part)
        for host in self.hosts:
            self.start_part(host, "worker")
        self._start_proxy()
        wait_for(lambda: answers(f"{API}/readyz"), "the API is not ready behind HAProxy")

    def start_part(self, host: Host, part: str, **settings: str) -> None:
        """Start a part, and wait until it is ready on its host."""
        command, environment = self._command(host, part)
        process = host.start(command, environment | settings, cwd=self._code)
        self._parts[host.name, part] = process
        port = int(settings.get("PROBE_PORT", PROBE_PORT)) if part == "worker" else PARTS[part]
        path = "_stcore/health" if part == "ui" else "healthz"
        url = f"http://{host.address}:{port}/{path}"
        wait_for(lambda: answers(url, Host="localhost"), f"{part} of {host.name} does not answer")

    def stop_part(self, host: Host, part: str) -> None:
        """End a part as systemd does, and wait for its end."""
        _end(self._parts.pop((host.name, part)), f"{part} of {host.name}")

    def pid(self, host: Host, part: str) -> int:
        """Return the process id of a part."""
        return self._parts[host.name, part].pid

    def kill_part(self, host: Host, part: str) -> None:
        """SIGKILL a part."""
        process = self._parts.pop((host.name, part))
        process.kill()
        process.wait()

    def upgrade(self) -> str:
        """Replace every part by a version with a newer schema; return what migrating said."""
        old_workers = [(host, self._parts.pop((host.name, "worker"))) for host in self.hosts]
        self._code = _next_version(self._home / "next")
        said = self.hosts[0].run(*self._command(self.hosts[0], "migrate"), cwd=self._code)
        for host, old in old_workers:
            self.start_part(host, "worker", PROBE_PORT=str(PROBE_PORT + 1))
            _end(old, f"the old worker of {host.name}")
        for part in PARTS:
            for host in self.hosts[:2]:
                self.stop_part(host, part)
                self.start_part(host, part)
        return said

    def first_admin(self) -> str:
        """Make the first administrator, `ada`, by the link that is printed; return her token."""
        printed = self.hosts[0].run(*self._command(self.hosts[0], "first-admin"))
        return take_link(printed.strip().rpartition("/")[2], "ada")

    def _command(self, host: Host, part: str) -> tuple[list[object], dict[str, str]]:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(self._code),
            **self._settings,
            "HOST": host.address,
            "DATA_DIR": str(host.folder / "data"),
            "PROBE_PORT": str(PROBE_PORTS[part]) if part in PROBE_PORTS else "",
        }
        return [sys.executable, "-m", "launch", part], environment

    def _start_proxy(self) -> None:
        """Start HAProxy with the file that is shipped, but each request to a random host."""
        certificate = self.door.folder / "desk.pem"
        certificate.write_bytes(certificate_for("desk.example.com"))
        shipped = (DEPLOY / "haproxy" / "haproxy.cfg").read_text(encoding="utf-8")
        changed = shipped.replace("/etc/haproxy/desk.pem", str(certificate))
        changed = re.sub(r"balance \w+", "balance random", changed)
        configuration = self.door.folder / "haproxy.cfg"
        configuration.write_text(changed, encoding="utf-8")
        self.door.start(["haproxy", "-db", "-f", configuration], {"PATH": os.environ["PATH"]})


def take_link(link: str, login: str) -> str:
    """Set a password by a one-time link; return the token of the sign-in that begins."""
    body = {"login": login, "password": PASSWORD}
    answer = httpx.post(f"{API}/api/v1/one-time-links/{link}", json=body, timeout=30)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


def answers(url: str, **headers: str) -> bool:
    """Return whether a GET gets 200."""
    try:
        return httpx.get(url, headers=headers, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def _end(process: "subprocess.Popen[bytes]", name: str) -> None:
    process.terminate()
    # Servers end by the signal that they were sent, once they have served what they had.
    assert process.wait(timeout=60) in (0, -signal.SIGTERM), name


def _next_version(folder: Path) -> Path:
    """Make a copy of the code that has one more migration, which adds a column."""
    compiled = shutil.ignore_patterns("__pycache__")
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name, ignore=compiled)
    newest = REVISIONS[-1]
    revision = f"{int(newest) + 1:04}"
    written = MIGRATION.format(revision=revision, before=newest)
    target = folder / "db" / "migrations" / "versions" / f"{revision}_noon.py"
    target.write_text(written, encoding="utf-8")
    return folder
