"""The component's types, as TypeScript checks them where it is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

ASSETS = Path(__file__).parent.parent.parent.parent / "ui" / "assets"


@pytest.mark.skipif(not shutil.which("tsc"), reason="TypeScript is not installed")
def test_the_component_has_no_type_errors():
    ran = subprocess.run(
        ["tsc", "-p", str(ASSETS / "tsconfig.json"), "--pretty", "false"],
        capture_output=True, text=True, check=False, cwd=ASSETS,
    )  # fmt: skip

    errors = [line for line in ran.stdout.splitlines() if line.startswith("conversation/")]
    assert errors == []
