"""What a run would do to each file, decided before anything is written."""

import difflib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from colloquy_kit.generate.errors import Refused
from colloquy_kit.generate.record import RECORD, fingerprint

CONFLICTED = "still has conflicts"
MARK = re.compile(r"^<{7} ", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """One file: as it is (None: absent), and as it is to be; `action` is a word for people."""

    path: str  # from the host's root
    action: str
    before: str | None
    after: str | None
    needs_people: bool = False

    @property
    def writes(self) -> bool:
        """Return whether the file is to change."""
        return self.before != self.after


def read(path: Path) -> str | None:
    """Return a file's text with LF as its line ending; None if there is no file."""
    try:
        return path.read_bytes().decode().replace("\r\n", "\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read: {error}.") from error


def decide(
    root: Path, wanted: Mapping[str, str], recorded: Mapping[str, str], force: bool
) -> Iterator[Change]:
    """Yield a change for each file. Raise Refused for files that are not the generator's."""
    for path, text in wanted.items():
        now, base = read(root / path), recorded.get(path)
        whole = Change(path, "unchanged", now, text)
        if now == text:
            yield whole
        elif now is None:
            yield _absent(whole, was_written=base is not None and not force)
        elif force:
            yield replace(whole, action="overwritten")
        elif base is None:
            said = f"{path} is in the way: {RECORD} does not have it"
            raise Refused(f"{said}. Restore that, move the file, or say --force.")
        elif MARK.search(now):
            yield replace(whole, action=CONFLICTED, after=now, needs_people=True)
        elif fingerprint(now) == fingerprint(base):
            yield replace(whole, action="renewed")
        else:
            yield _merged(whole, base)
    for path in sorted(set(recorded) - set(wanted)):
        yield _unwanted(root, path, recorded[path])


def differences(change: Change) -> str:
    """Return the change as a unified diff."""
    before, after = (
        (text or "").splitlines(keepends=True) for text in (change.before, change.after)
    )
    lines = difflib.unified_diff(before, after, f"a/{change.path}", f"b/{change.path}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _absent(change: Change, was_written: bool) -> Change:
    if was_written:
        return replace(change, action="stays deleted (--force writes it again)", after=None)
    return replace(change, action="created")


def _unwanted(root: Path, path: str, base: str) -> Change:
    """What an earlier answer asked for is removed, unless somebody has worked on it."""
    now = read(root / path)
    if now is None or now == base:
        return Change(path, "removed" if now else "unchanged", now, None)
    return Change(path, "not needed any more, but edited: it stays", now, now)


def _merged(change: Change, base: str) -> Change:
    assert change.before is not None  # noqa: S101  it was edited
    text, conflicts = merge(change.before, base, change.after or "")
    if conflicts:
        number = f"{conflicts} conflict{'s' if conflicts > 1 else ''}"
        return replace(change, action=f"merged with {number}", after=text, needs_people=True)
    return replace(change, action="merged" if text != change.before else "unchanged", after=text)


def merge(edited: str, base: str, generated: str) -> tuple[str, int]:
    """Return the three-way merge and how many conflicts are marked in it."""
    with TemporaryDirectory() as folder:
        names = ("edited", "recorded", "generated")
        for name, text in zip(names, (edited, base, generated), strict=True):
            (Path(folder) / name).write_bytes(text.encode())
        labels = [part for name in names for part in ("-L", name)]
        command = ["git", "merge-file", "-p", "-q", *labels, *names]
        # In a hook of git, its variables name a repository that is not seen from here.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        try:
            done = subprocess.run(  # noqa: S603  fixed words
                command, cwd=folder, env=environment, capture_output=True, check=False
            )
        except FileNotFoundError as error:
            raise Refused("Your edits are merged by git, which is not installed here.") from error
    if not 0 <= done.returncode <= 127:
        raise Refused(f"git merge-file has failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(), done.returncode
