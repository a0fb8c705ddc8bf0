"""The console script `colloquy`: its subcommands are entry points of the group `colloquy.commands`.

A subcommand is a function that takes its arguments as a list and returns the exit status; the first
line of its docstring is its summary. It parses its arguments itself, `--help` too.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from importlib.metadata import EntryPoint, entry_points

from colloquy_kit.errors import KitError

GROUP = "colloquy.commands"
WRONG_USE = 2
INTERRUPTED = 130
Command = Callable[[list[str]], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named subcommand; an error that the user can fix is one sentence, with status 1."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ("--help",)
    commands = {found.name: found for found in entry_points(group=GROUP)}
    if name in ("-h", "--help"):
        sys.stdout.write(_help(commands.values()))
        return 0
    if name not in commands:
        sys.stderr.write(f"There is no command `{name}`. `colloquy --help` lists all.\n")
        return WRONG_USE
    try:
        command: Command = commands[name].load()
        return command(rest)
    except KitError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1
    except ImportError as error:
        sys.stderr.write(f"`colloquy {name}` cannot be loaded: {error}.\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _help(commands: Collection[EntryPoint]) -> str:
    width = max((len(found.name) for found in commands), default=0)
    lines = [f"  {one.name:{width}}  {_summary(one)}\n" for one in sorted(commands)]
    return "".join(
        [
            "Usage: colloquy COMMAND …\n\n",
            *(lines or ["  No package that is installed here has a command.\n"]),
            "\n`colloquy COMMAND --help` says what a command takes.\n",
        ]
    )


def _summary(found: EntryPoint) -> str:
    try:
        words = (found.load().__doc__ or "").strip().splitlines()
    except ImportError as error:
        return f"cannot be loaded: {error}"
    return words[0] if words else ""
