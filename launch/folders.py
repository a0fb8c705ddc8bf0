"""Make folders that other users may traverse but not list; never change existing ones."""

import os
from errno import ENOTDIR
from pathlib import Path
from tempfile import TemporaryFile

from launch.errors import LaunchError

# If started by root, PostgreSQL's user has to traverse them; otherwise no other user has to.
PASSABLE = 0o711
PRIVATE = 0o700


def make_folder(folder: Path) -> Path:
    """Make `folder` and its missing parents, regardless of the umask, and return it.

    Raise LaunchError, which says why it cannot be used.
    """
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            path.chmod(PASSABLE if os.geteuid() == 0 else PRIVATE)
        if not folder.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
        TemporaryFile(dir=folder).close()  # it may exist and be another user's, or read-only
    except OSError as error:
        raise LaunchError(
            f"The folder {folder} cannot be used: {error.strerror}. Fix this, or set another"
            " DATA_DIR."
        ) from error
    return folder
