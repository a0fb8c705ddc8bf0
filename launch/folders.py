"""Make folders that other users may pass through but not look into; never change existing ones."""

import os
from errno import ENOTDIR
from pathlib import Path

from launch.errors import LaunchError

# As root, the user who runs PostgreSQL has to get through; otherwise nobody has to.
PASSABLE = 0o711
PRIVATE = 0o700


def make_folder(folder: Path) -> Path:
    """Make `folder` and what is missing above it, whatever the umask; returns it.

    LaunchError says why it cannot be used.
    """
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            path.chmod(PASSABLE if os.geteuid() == 0 else PRIVATE)
        if not folder.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
    except OSError as error:
        raise LaunchError(
            f"The folder {folder} cannot be used: {error.strerror}. Mend that, or set another"
            " DATA_DIR."
        ) from error
    return folder
