"""`python -m launch COMMAND`: start Colloquy, or one part of it."""

import os
import signal
import sys
from collections.abc import Callable, Mapping

from backend.configuration import find_misspelt, read_settings
from backend.errors.base import AppError
from backend.privacy import hide_process
from backend.settings import Settings
from launch import alone
from launch.console import Console
from launch.processes.children import end_with_parent
from launch.stack import run_stack

COMMANDS: Mapping[str, Callable[[Settings, Console], int]] = {
    "run": run_stack,
    "api": alone.run_api,
    "worker": alone.run_worker,
    "ui": alone.run_ui,
    "migrate": alone.run_migrate,
    "first-admin": alone.run_first_admin,
    "integrity": alone.run_integrity,
    "repair": alone.run_repair,
    "demo": alone.run_demo,
    "remove-leftovers": alone.remove_leftovers,
}
WRONG_USE = 2
INTERRUPTED = 130


def main(arguments: list[str]) -> int:
    """Run the command; an error that the user can fix is printed as one sentence, with status 1."""
    hide_process()
    console = Console()
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        console.fail(f"Usage: python -m launch {' | '.join(COMMANDS)}")
        return WRONG_USE
    if os.environ.get("MAKELEVEL"):
        # If make were killed, the stack would otherwise keep running with no terminal to stop it.
        end_with_parent(signal.SIGTERM)
    try:
        settings = read_settings()
        for sentence in find_misspelt():
            console.say(sentence)
        return COMMANDS[arguments[0]](settings, console)
    except KeyboardInterrupt:
        return INTERRUPTED
    except AppError as error:
        console.fail(error.detail)
        return 1
    except OSError as error:
        console.fail(f"Colloquy stops: {error}.")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
