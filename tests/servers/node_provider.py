"""oidc-provider, a real OpenID Connect provider from npm, where Node is there."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backend.types import JSON
from tests.processes import free_port, kill_process
from tests.servers.iam import wait_until_there

PACKAGE = "oidc-provider@9.13.3"
SCRIPT = Path(__file__).with_name("node_provider.mjs")
INSTALL_SECONDS = 120


@contextmanager
def node_provider(home: Path, redirect_url: str) -> Iterator[JSON]:
    """Run the provider, and give its settings. Skip the test where it cannot be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("Node is not here, in which oidc-provider runs")
    options = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(home))
    installing = subprocess.run([npm, "install", *options, PACKAGE], timeout=INSTALL_SECONDS)
    if installing.returncode:
        pytest.skip("npm does not install oidc-provider here")
    script, port = shutil.copy(SCRIPT, home), str(free_port())
    with (home / "node.log").open("wb") as words:
        process = subprocess.Popen(
            [node, script, port, redirect_url],
            env={**os.environ, "NODE_ENV": "test"},
            stdout=words,
            stderr=words,
            cwd=home,
            start_new_session=True,
        )
    try:
        issuer = f"http://localhost:{port}"
        wait_until_there(issuer, process.poll)
        yield {
            "issuer": issuer,
            "client_id": "colloquy",
            "client_secret": "a secret that nobody guesses",
        }
    finally:
        kill_process(process)
