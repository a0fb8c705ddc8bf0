"""What is shipped in `deploy`, as tests read it."""

import importlib.util
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from backend.addresses import Address, read_host
from backend.settings import Settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "colloquy"
PARTS = ("migrate", "api", "worker", "ui")
SETTINGS = {name.upper() for name in Settings.model_fields}


def run(name: str, *arguments: str | Path) -> str:
    """Run a program and return what it says; skip the test where it is not installed."""
    places = f"{Path(sys.executable).parent}:{ROOT}/.venv/bin:/usr/sbin"
    found = shutil.which(name) or shutil.which(name, path=places)
    if not found:
        pytest.skip(f"{name} is not installed")
    command = [found, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@cache
def compose() -> dict[str, Any]:
    """Return the services of the compose file."""
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return read


def image_environment() -> dict[str, str]:
    """Return the environment that the image has by itself."""
    final = (DEPLOY / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    found = re.search(r"\nENV (.*?)\n(?=[A-Z]+ )", final, re.DOTALL)
    assert found
    return dict(re.findall(r"(\w+)=(\S+)", found[1]))


def environment(part: str) -> dict[str, str]:
    """Return the environment that a part's container has by the compose file."""
    given = compose()[part]["environment"]
    return image_environment() | {name: _filled(value) for name, value in given.items()}


def _filled(text: str) -> str:
    """Return a text as Compose fills it in: with the defaults, and something for passwords."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)
    text = re.sub(r"\$\{ENCRYPTION_KEY:[^}]*\}", "A" * 43 + "=", text)
    return re.sub(r"\$\{\w+:\?[^}]*\}", "secret", text)


def health() -> ModuleType:
    """Return the health check of containers."""
    spec = importlib.util.spec_from_file_location("health", DEPLOY / "image" / "healthcheck.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settings_of(environment: dict[str, str]) -> Settings:
    """Return what a process reads from its environment. Raise pydantic.ValidationError."""
    given = {k.lower(): v for k, v in environment.items() if k in SETTINGS and v}
    return Settings(_env_file=None, **given)


def is_answered(settings: Settings, port: int, host: str) -> bool:
    """Return whether a server of these settings answers a request for this host."""
    address = Address(settings.host, port, settings.public_url, settings.allowed_hosts)
    read = read_host(host)
    return read is not None and address.scheme_of(read) is not None
