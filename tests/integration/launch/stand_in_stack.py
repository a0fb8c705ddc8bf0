"""A launcher whose parts are small stand-ins: run as a program by test_launch_stack.py."""

import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from backend.configuration import read_settings
from backend.errors.base import AppError
from backend.settings import Settings
from launch import parts
from launch.console import Console
from launch.environment import ROOT, child_environment
from launch.stack import Ports, run_stack
from launch.supervision.services import PartSpec, always

SERVER = """
import http.server, os, signal
if os.environ.get("STUBBORN"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *parts):
        pass
http.server.HTTPServer(("127.0.0.1", {port}), Handler).serve_forever()
"""
CRASH = "import sys; print('the reason of the crash'); sys.exit(3)"
CRASH_LATER = "import time; time.sleep(0.5)\n" + CRASH
WORKER = "import time; print('waiting'); time.sleep(600)"


def table(settings: Settings, ports: Ports, found: dict[str, str]) -> list[PartSpec]:
    crash = os.environ.get("CRASH")
    environment = child_environment(found)

    def part(name: str, code: str, port: int | None = None) -> PartSpec:
        command = (sys.executable, "-c", code, f"stand_in_{name}")
        ready = partial(parts.listens, port) if port else always
        return PartSpec(name, command, environment, ROOT, ready, patience_seconds=60)

    return [
        part("migrate", CRASH if crash == "migrate" else "print('migrated')"),
        part("demo", SERVER.format(port=ports.demo), ports.demo),
        part("api", SERVER.format(port=ports.api), ports.api),
        part("worker", CRASH_LATER if crash == "worker" else WORKER),
        part("ui", SERVER.format(port=ports.ui), ports.ui),
    ]


if __name__ == "__main__":
    try:
        sys.exit(run_stack(read_settings(), Console(), table))
    except AppError as error:
        sys.exit(error.detail)
