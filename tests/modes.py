"""What other users of the machine may read below a folder."""

import os
import subprocess
from pathlib import Path

OTHERS = 0o077
STRANGER = 54_321  # the id of a user who owns nothing here


def open_to_others(home: Path) -> list[str]:
    """The files below `home` that somebody else gets to; as root a stranger tries it, too."""
    found = [str(path) for path in _reachable(home) if path.stat().st_mode & 0o044]
    if os.geteuid() == 0:
        home_is_open = home.stat().st_mode
        home.chmod(0o711)
        looking = ["find", str(home), "-type", "f", "-readable"]
        tried = subprocess.run(
            looking, user=STRANGER, group=STRANGER, extra_groups=[], cwd="/",
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        home.chmod(home_is_open & 0o7777)
        found += tried.stdout.splitlines()
    return sorted(set(found))


def _reachable(folder: Path) -> list[Path]:
    """The files of the folder, and of those in it that others may pass through."""
    files = []
    for path in folder.iterdir():
        if path.is_symlink():
            continue
        if path.is_file():
            files.append(path)
        elif path.is_dir() and path.stat().st_mode & 0o055:
            files += _reachable(path)
    return files
