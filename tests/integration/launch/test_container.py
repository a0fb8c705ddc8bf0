"""The parts as a container runs them: only their folder and /tmp can be written."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.processes import free_port, stop_process
from tests.shipped import ROOT, health, image_environment
from tests.stack import PATIENCE_SECONDS, Servers

FOLDER = "/mnt"  # of the container's data; the rest of the machine's files is read-only there
CODE = "/media"  # where it is meanwhile, because it may be below /tmp
CONTAINER = f"""
set -e
mount --bind "$DATA_DIR" {FOLDER}
mount --bind {ROOT} {CODE}
mount -o remount,ro,bind /
mount -t tmpfs -o noexec,nosuid,nodev tmpfs /tmp
mkdir -p {ROOT}
mount --bind {CODE} {ROOT}
mount -o remount,ro,bind {ROOT}
cd {ROOT}
DATA_DIR={FOLDER} exec "$@"
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can mount what this needs"
)
def test_each_part_works_where_only_its_folder_and_tmp_can_be_written(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {
        "DATABASE_URL": servers.new_database(migrated=False),
        "REDIS_URL": servers.new_redis(),
        "API_PORT": str(free_port()),
        "UI_PORT": str(free_port()),
        "STOP_DELAY_SECONDS": "0",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "DATA_DIR": str(tmp_path),
    }
    environment = image_environment() | {"PATH": os.environ["PATH"]} | own
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    with contained("touch", str(ROOT / "written")) as writer:
        assert writer.wait(30) != 0
    with contained(sys.executable, "-m", "launch", "migrate") as migration:
        assert migration.wait(120) == 0
    with ExitStack() as ends:
        parts = {}
        for part in ("api", "ui", "worker"):  # containers have ports of their own
            monkeypatch.setenv("PROBE_PORT", str(free_port()))
            starts = contained(sys.executable, "-m", "launch", part)
            parts[part] = ends.enter_context(starts)
        assert [part for part in parts if not becomes_well(part, parts[part])] == []


def becomes_well(part: str, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if health().is_well(part):
            return True
        time.sleep(0.2)
    return False


@contextmanager
def contained(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["unshare", "--mount", "sh", "-c", CONTAINER, "sh", *command])
    try:
        yield process
    finally:
        stop_process(process)
