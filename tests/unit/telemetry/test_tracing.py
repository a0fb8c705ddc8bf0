"""Tracing that is off costs nothing: it imports nothing, runs no thread, and spans do nothing."""

import subprocess
import sys

from tests.processes import ROOT

OFF = """
import sys, threading
import backend.api.app, worker.__main__
from backend.telemetry import tracing
from backend.telemetry.origins import origin
tracing.start("worker", "one")
with tracing.span("work", {"a": 1}) as span:
    span.note({"b": 2})
    span.fail("odd")
    assert origin() is None
tracing.close()
loaded = [name for name in sys.modules if name.startswith((
    "backend.telemetry.otel", "opentelemetry.exporter", "opentelemetry.proto", "google.protobuf"
))]
print(loaded, [thread.name for thread in threading.enumerate()])
"""


def test_off_it_imports_nothing_and_runs_nothing(tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}

    ran = subprocess.run(
        [sys.executable, "-c", OFF], env=environment, cwd=tmp_path, capture_output=True, text=True
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "[] ['MainThread']\n", "")
