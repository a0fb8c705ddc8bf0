"""A full disk: nothing is given up, and people are told."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from launch.servers.postgres import running_url
from tests.integration.launch.launchers import Stack, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mount a disk of so many megabytes, which users other than root may enter as well."""
    places: list[Path] = []

    def mount(megabytes: int) -> Path:
        place = Path(f"/tmp/colloquy-disk-{os.getpid()}")
        place.mkdir()
        places.append(place)
        options = f"size={megabytes}m,mode=755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", "--lazy", place], check=True)
        place.rmdir()


def fill(disk: Path) -> Path:
    filling = disk / "filling"
    subprocess.run(
        ["dd", "if=/dev/zero", f"of={filling}", "bs=1k"], check=False, stderr=subprocess.DEVNULL
    )
    return filling


@pytest.mark.chaos
def test_servers_that_end_on_a_full_disk_start_again_when_there_is_room(start, disk):
    place = disk(120)
    stack: Stack = start(DATA_DIR=str(place / "data"))
    stack.wait_for("Colloquy is ready")
    filling = fill(place)
    for mark in ("redis-server", "bin/postgres"):
        stack.part(mark).kill()
    stack.wait_for("is full. Free some space there, and Redis starts.")
    stack.wait_for("is full. Free some space there, and PostgreSQL starts.")

    filling.unlink()
    wait_until(lambda: running_url(place / "data") is not None)
    wait_until(lambda: stack.find("redis-server") is not None)
    assert stack.stop() == 0


@pytest.mark.chaos
def test_a_start_on_a_full_disk_is_one_sentence(start, disk):
    stack: Stack = start(DATA_DIR=str(disk(2) / "data"))

    assert stack.process.wait(60) == 1
    assert "postgres is full. Free some space there, and PostgreSQL starts." in stack.said()
    assert "Traceback" not in stack.said()
    assert stack.said().count("\n") <= 4
