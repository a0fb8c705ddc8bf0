"""`colloquy generate`: read the answers, decide, say, write."""

import argparse
import sys
from contextlib import chdir
from dataclasses import fields
from pathlib import Path

from colloquy_kit.generate.answers import OWNER_TYPES, ROUTES, Answers, option
from colloquy_kit.generate.changes import differences
from colloquy_kit.generate.errors import Refused
from colloquy_kit.generate.host import find_root, importing_from
from colloquy_kit.generate.run import Run, prepare
from colloquy_kit.generate.writing import check_writable, write_changes

DONE, CONFLICTS, REFUSED = 0, 1, 2
HELP = {
    "scope": "the class that says who asks: it has `type` and `id`",
    "owner": "the model of the people or teams that conversations belong to",
    "owner_type": "which scopes own conversations (user)",
    "owner_field": "the column for the owner's key (user_id)",
    "base": "the declarative base (the owner's)",
    "alembic": "Alembic's configuration (alembic.ini)",
    "table_prefix": "begins the names of the three tables",
    "routes": "also write routes.py for this framework (none)",
}
CHOICES = {"owner_type": OWNER_TYPES, "routes": ROUTES}
MODES = {
    "dry_run": "say what would be done",
    "diff": "show it as a diff",
    "check": "for CI: exit with 1 if something would change",
    "force": "overwrite edited files and files in the way; write deleted ones again",
}


def generate(arguments: list[str]) -> int:
    """Write conversations into your application: its database, its users, its migrations."""
    told = _parser().parse_args(arguments)
    given = {field.name: getattr(told, field.name) for field in fields(Answers)}
    try:
        root = _root(told.project)
        with chdir(root), importing_from(root):
            prepared = prepare(root, given, force=told.force)
            if not (told.dry_run or told.diff or told.check):
                check_writable(root, prepared.writes)
                write_changes(root, prepared.writes)
            _report(prepared, told)
    except Refused as error:
        sys.stderr.write(f"colloquy: {error.detail}\n")
        return REFUSED
    except OSError as error:
        sys.stderr.write(f"colloquy: {error.filename}: {error.strerror}.\n")
        return REFUSED
    if any(change.needs_people for change in prepared.changes):
        return CONFLICTS
    return CONFLICTS if told.check and prepared.writes else DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("colloquy generate", description=generate.__doc__)
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    persistence = kinds.add_parser(
        "persistence",
        help="a package with models, functions, an agent and tests; and a migration",
        description="Write a package of conversations into this application, and a migration for"
        " it. Answers are remembered in [tool.colloquy] of pyproject.toml: run it again without.",
    )
    persistence.add_argument("target", nargs="?", help="the package, as my_app.conversations")
    for name, text in HELP.items():
        choices = CHOICES.get(name)
        persistence.add_argument(f"--{option(name)}", choices=choices, help=text)
    persistence.add_argument("--project", type=Path, help="the application's folder (here)")
    modes = persistence.add_mutually_exclusive_group()
    for name, text in MODES.items():
        modes.add_argument(f"--{option(name)}", action="store_true", help=text)
    return parser


def _root(project: Path | None) -> Path:
    if project is None:
        return find_root(Path.cwd())
    if not project.is_dir():
        raise Refused(f"--project: there is no folder {project}.")
    return project.resolve()


def _report(prepared: Run, arguments: argparse.Namespace) -> None:
    if arguments.diff:
        sys.stdout.write("".join(differences(change) for change in prepared.writes))
        return
    worth_saying = [change for change in prepared.changes if change.action != "unchanged"]
    for change in worth_saying:
        sys.stdout.write(f"{change.action}: {change.path}\n")
    if not worth_saying:
        sys.stdout.write("Nothing to do.\n")
    elif arguments.dry_run or arguments.check:
        sys.stdout.write("Nothing was written.\n")
    if any(change.needs_people for change in prepared.changes):
        sys.stdout.write("Resolve what is marked, then run the command again.\n")
    for sentence in prepared.next_steps if prepared.writes else ():
        sys.stdout.write(f"{sentence}\n")
