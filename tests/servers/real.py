"""MCP servers from the registry, that others have written: as child processes and over HTTP."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import psutil

from backend.types import JSON
from tests.processes import free_port
from tests.stack import PROGRAMS

START_SECONDS = 30


def time_server(**fields: Any) -> JSON:
    """How a domain names mcp-server-time."""
    args = ["--local-timezone", "Europe/Berlin"]
    command = str(PROGRAMS / "mcp-server-time")
    return {"transport": "stdio", "command": command, "args": args, **fields}


def command_of(process: psutil.Process) -> list[str]:
    """The words of its command line; none of a process that has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def children(process_id: int) -> list[psutil.Process]:
    """The processes that a process has started, also those that ended unnoticed by it.

    Those of its sandbox are not meant, which it has as long as it lives; here it may be a fork.
    """
    own = psutil.Process(process_id)
    sandbox = [
        child
        for child in own.children()
        if (command := command_of(child)) == own.cmdline()
        or "backend.sandbox.supervisor" in command
    ]
    theirs = {process for child in sandbox for process in (child, *child.children(recursive=True))}
    return [child for child in own.children(recursive=True) if child not in theirs]


class SqliteOverHttp:
    """mcp-server-sqlite behind mcp-proxy, which speaks streamable HTTP."""

    def __init__(self, database: Path) -> None:
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}/mcp"
        command = [PROGRAMS / "mcp-proxy", "--port", str(self._port), "--"]
        command += [PROGRAMS / "mcp-server-sqlite", "--db-path", str(database)]
        self._process = subprocess.Popen(
            command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def template(self, **fields: Any) -> JSON:
        """How a domain names it."""
        return {"transport": "streamable_http", "url": self.url, **fields}

    def __enter__(self) -> "SqliteOverHttp":
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert time.monotonic() < deadline, "mcp-proxy does not start"
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self.signal(signal.SIGKILL)
        self._process.wait()

    def signal(self, number: int) -> None:
        """Send a signal to it and the server behind it."""
        os.killpg(self._process.pid, number)

    def _answers(self) -> bool:
        try:
            httpx.get(f"http://127.0.0.1:{self._port}/status", timeout=1)
        except httpx.TransportError:
            return False
        return True
