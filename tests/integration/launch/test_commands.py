"""The console script `colloquy`, as it is installed."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from colloquy_kit import commands
from colloquy_kit.errors import CorruptState
from launch.environment import ROOT
from tests.stack import Servers

SCRIPT = Path(sys.executable).with_name("colloquy")


def colloquy(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT, *arguments],
        cwd=folder,
        env={**os.environ, "DATA_DIR": str(folder / "data"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def refuse(arguments: list[str]) -> int:
    raise CorruptState


def interrupt(arguments: list[str]) -> int:
    raise KeyboardInterrupt


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands as other packages would register them."""
    places = {name: f"{__name__}:{name}" for name in ("refuse", "interrupt")}
    places |= {"missing": "colloquy_of_nobody:run"}
    found = EntryPoints(EntryPoint(name, at, commands.GROUP) for name, at in places.items())
    monkeypatch.setattr(commands, "entry_points", lambda group: found.select(group=group))


def test_help_lists_the_commands_of_the_kit_and_of_colloquy(tmp_path: Path) -> None:
    listed = colloquy(tmp_path, "--help")

    assert listed.returncode == 0
    lines = [line.split(maxsplit=1) for line in listed.stdout.splitlines() if line[:2] == "  "]
    assert {"generate", "integrity"} <= {name for name, _ in lines}
    assert colloquy(tmp_path).stdout == listed.stdout


def test_a_command_runs_from_any_folder_with_the_database_as_it_is_set(
    tmp_path: Path, servers: Servers
) -> None:
    checked = colloquy(tmp_path, "integrity", DATABASE_URL=servers.new_database())

    assert checked.stderr == ""
    assert "0 sessions checked, 0 with something wrong" in checked.stdout
    assert checked.returncode == 0


def test_without_a_database_a_command_says_so_and_its_help_needs_none(tmp_path: Path) -> None:
    refused = colloquy(tmp_path, "integrity", DATABASE_URL="")
    helped = colloquy(tmp_path, "integrity", "--help", DATABASE_URL="")

    assert (refused.returncode, helped.returncode) == (1, 0)
    assert "Start `make run` first" in refused.stdout + refused.stderr
    assert "--repair" in helped.stdout


def test_a_command_asks_the_api_of_this_installation(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text("[]")

    refused = colloquy(tmp_path, "import", "export.json", API_PORT="1", API_URL="")

    assert refused.returncode == 1
    assert "does not answer at http://127.0.0.1:1/" in refused.stderr


def test_paths_are_meant_from_where_a_person_called(tmp_path: Path) -> None:
    code = "from backend.configuration import named_path as n; print(n('a.json'), n('/b'))"
    named = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "COLLOQUY_CALLED_FROM": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert named.stdout.split() == [str(tmp_path / "a.json"), "/b"]


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("refuse", 1, "state is unreadable"),
        ("missing", 1, "cannot be loaded: No module named 'colloquy_of_nobody'"),
        ("nothing", 2, "There is no command `nothing`"),
        ("interrupt", 130, ""),
    ],
)
def test_a_command_that_fails_says_so_in_a_sentence(
    capsys: pytest.CaptureFixture[str], name: str, status: int, said: str
) -> None:
    assert commands.main([name]) == status

    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("others")
def test_a_command_that_cannot_be_loaded_keeps_no_other_from_being_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert commands.main(["--help"]) == 0

    listed = capsys.readouterr().out
    assert "missing    cannot be loaded" in listed
    assert "  refuse" in listed
