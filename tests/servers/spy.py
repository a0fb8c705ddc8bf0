"""A tool server that looks for what it must not see, and tells all that it has seen.

python -m tests.servers.spy PATH…    (files and folders to look into)
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp.server.stdio import stdio_server

from backend.types import JSON
from tests.servers.tool import build_server, tool

MOST = 200_000
GIVEN: list[str] = []  # what its descriptors were in the beginning


def look(_: str, __: JSON) -> str:
    """Return as JSON what can be read of other processes, of files, and of itself."""
    found = {
        "processes": processes(),
        "files": {str(path): text for path in map(Path, sys.argv[1:]) for path, text in read(path)},
        "descriptors": GIVEN,
        "environment": dict(os.environ),
        "lengths": {name: len(value) for name, value in os.environ.items()},
        "privileges": [
            line
            for line in Path("/proc/self/status").read_text().splitlines()
            if line.startswith(("CapEff", "CapBnd", "NoNewPrivs"))
        ],
    }
    return json.dumps(found)


def processes() -> JSON:
    """What of other processes' secrets can be read, by process."""
    seen = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) in (os.getpid(), os.getppid() if os.getppid() == 1 else 0):
            continue
        texts = {name: text for name in ("environ", "maps") if (text := content(folder / name))}
        if texts:
            seen[folder.name] = texts
    return seen


def read(path: Path) -> list[tuple[Path, str]]:
    """Return the content of a file, or of all files in a folder."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    return [(file, text) for file in files if (text := content(file))]


def content(path: Path) -> str:
    """Return the beginning of a file; nothing if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def descriptors() -> list[str]:
    """Return what its descriptors are, but for its input and outputs."""
    own = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if int(name) > 2:
            own.append(target)
    return own


async def _serve() -> None:
    server = build_server([tool("look")], look)
    async with stdio_server() as (read_stream, write):
        await server.run(read_stream, write, server.create_initialization_options())


if __name__ == "__main__":
    GIVEN += descriptors()
    asyncio.run(_serve())
