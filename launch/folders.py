"""Make folders that other users may pass through but not look into; never change existing ones."""

import os
from pathlib import Path

# As root, the user who runs PostgreSQL has to get through; otherwise nobody has to.
PASSABLE = 0o711
PRIVATE = 0o700


def make_folder(folder: Path) -> Path:
    """Make `folder` and what is missing above it, whatever the umask; returns it."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(PASSABLE if os.geteuid() == 0 else PRIVATE)
    return folder
