"""A tool server that runs as a process sees nothing of the worker's secrets, whoever it runs as."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from backend.types import JSON
from launch.parts import listens
from tests.fakes import ScriptedModel, script
from tests.integration.scenes import check_views, make_domain, make_session
from tests.processes import ROOT, Process, launch
from tests.servers.real import children
from tests.stack import Servers, Stack

CANARIES = {
    "OPENAI_API_KEY": "sk-canary-of-the-model",
    "COLLOQUY_SECRET_GIVEN": "canary-that-is-given",
    "COLLOQUY_SECRET_OTHER": "canary-of-another-server",
    "DOMAIN_SECRETS": "COLLOQUY_SECRET_*",
}
RUN_SPY = "runpy.run_module('tests.servers.spy', run_name='__main__')"
IN_FILE = "canary-in-the-file"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can confine a process")


class ApartStack(Stack):
    """Parts that start from nothing in a folder with a `.env`, with this environment only."""

    def start(self, *arguments: str, **environment: str) -> Process:
        folder = self.log.parents[1]
        return launch(arguments, {**self.environment, **environment}, self.log, folder)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("apart")


@pytest.fixture(scope="module")
def apart(servers: Servers, model: ScriptedModel, home: Path) -> Iterator[ApartStack]:
    data = home / "data"
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "password").write_text(IN_FILE)
    (home / ".env").write_text(f"COLLOQUY_SECRET_IN_FILE={IN_FILE}\n")
    stack = ApartStack(
        servers.new_database(), servers.new_redis(), data, OPENAI_BASE_URL=model.url, **CANARIES
    )
    model.clear()
    model.steps = ()
    with stack as running:
        yield running


def spy(stack: Stack, *paths: Path, **env: str) -> JSON:
    """What a tool server finds that looks for secrets."""
    # The worker's folder is not that of the tests.
    program = f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); {RUN_SPY}"
    args = ["-c", program, *map(str, paths)]
    server = {"transport": "stdio", "command": sys.executable, "args": args, "env": env}
    session_id = make_session(stack, make_domain(stack, mcp_servers={"spy": server})["id"])
    stack.chat(script({"tools": [{"name": "look"}]}, {"text": "Seen."}), session_id)
    rows, _ = check_views(stack, session_id)
    (result,) = [row["content"] for row in rows if row["content_type"] == "tool_result"]
    assert not result["is_error"], result["content"]
    if "this machine cannot" in stack.log.read_text():
        pytest.skip("this machine cannot confine a process")
    return json.loads(result["content"])


def test_a_process_sees_no_secret_that_it_was_not_given(apart: ApartStack, home: Path) -> None:
    password = make_url(apart.database_url).password

    seen = spy(apart, home, ROOT / ".env", GIVEN="${COLLOQUY_SECRET_GIVEN}")

    assert seen["lengths"].pop("GIVEN") == len(CANARIES["COLLOQUY_SECRET_GIVEN"])
    assert seen["environment"].pop("GIVEN") == "${COLLOQUY_SECRET_GIVEN}"
    said = json.dumps(seen)
    assert "canary" not in said
    assert not password or password not in said
    assert seen["processes"] == {}
    assert seen["files"] == {}
    assert seen["descriptors"] == []
    given = "HOME LOGNAME PATH SHELL TERM USER LC_CTYPE"
    assert set(seen["environment"]) <= set(given.split())


def test_a_process_has_no_privileges_and_gets_none(apart: ApartStack) -> None:
    lines = spy(apart)["privileges"]

    said = dict(line.split(":\t") for line in lines)
    assert int(said["CapEff"], 16) == 0
    assert said["NoNewPrivs"] == "1"
    assert os.geteuid() != 0 or int(said["CapBnd"], 16) == 0


def test_our_own_processes_are_hidden_from_others_of_their_user(apart: ApartStack) -> None:
    """Who is not root may read nothing of a process that belongs to root in /proc."""
    assert apart.api
    for process in (apart.api, apart.workers[0]):
        assert is_hidden(process)


@pytest.mark.parametrize("part", ["ui", "backend.demo_model"])
def test_a_part_that_needs_no_secret_is_hidden_too(apart: ApartStack, part: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = apart.start("-m", part, "--port", str(port), HOME=str(apart.log.parent))
    try:
        apart.wait_for(lambda: listens(port), f"{part} does not start")

        assert is_hidden(process)
    finally:
        process.terminate()
        process.wait(20)


def is_hidden(process: Process) -> bool:
    """Whether its environment belongs to root, and nobody else can read it."""
    readable = subprocess.run(
        ["cat", f"/proc/{process.pid}/environ"],
        capture_output=True,
        check=False,
        **({"user": "nobody"} if os.geteuid() == 0 else {}),
    )
    is_read = readable.returncode == 0 or readable.stdout != b""
    return not is_read and Path(f"/proc/{process.pid}/environ").stat().st_uid == 0


def test_nothing_of_a_process_is_left_when_its_turn_has_ended(apart: ApartStack) -> None:
    spy(apart)

    worker = apart.workers[0].pid
    apart.wait_for(lambda: not children(worker), "a child outlives its turn")
