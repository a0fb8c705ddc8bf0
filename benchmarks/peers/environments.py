"""Environments for peers whose dependencies exclude ours."""

import subprocess
import sys
import venv
from pathlib import Path

CHAINLIT = ("chainlit==2.12.0", "openai==3.57.0")


def chainlit() -> Path:
    """Return Chainlit's command, installed beside our environment's packages on first use."""
    home = Path(sys.prefix) / "peers" / CHAINLIT[0].replace("==", "-")
    command = home / "bin" / "chainlit"
    if not command.exists():
        venv.create(home, clear=True)
        pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python")]
        subprocess.run([*pip, "install", "-q", *CHAINLIT], check=True)
    return command
