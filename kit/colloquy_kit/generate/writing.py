"""Files written so that a run killed at any moment leaves each one whole, old or new."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from colloquy_kit.generate.changes import Change
from colloquy_kit.generate.errors import Refused


def check_writable(root: Path, changes: Sequence[Change]) -> None:
    """Raise Refused if a folder that is to change is read-only, before anything is written."""
    for change in changes:
        folder = (root / change.path).resolve().parent
        while not folder.exists():
            folder = folder.parent
        if not os.access(folder, os.W_OK | os.X_OK) or not folder.is_dir():
            raise Refused(f"{change.path} cannot be written: {folder} is read-only.")


def write_changes(root: Path, changes: Sequence[Change]) -> None:
    """Write them in their order; the record comes last, so that what it says is there."""
    for change in changes:
        path = (root / change.path).resolve()  # through links, which stay
        try:
            if change.after is None:
                path.unlink(missing_ok=True)
            else:
                _write(path, change.after)
        except OSError as error:
            said = f"{change.path} cannot be written: {error.strerror}."
            raise Refused(f"{said} Run the command again: it continues.") from error


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(
        f".{path.name}.colloquy"
    )  # the same each time: a killed run's is reused
    with beside.open("wb") as file:
        file.write(_with_endings_of(path, text).encode())
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        shutil.copymode(path, beside)
    beside.replace(path)


def _with_endings_of(path: Path, text: str) -> str:
    old = path.read_bytes() if path.exists() else b""
    return text.replace("\n", "\r\n") if b"\r\n" in old[: old.find(b"\n") + 1] else text
