"""Tell whether a disk has room for a server to start; its own output may not fit there either."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryFile

NEEDED_BYTES = 16 * 2**20  # PostgreSQL writes its log in files of this size
_BLOCK = bytes(2**20)


def has_room(folder: Path) -> bool:
    """Return whether a server could still write to `folder`.

    Writing finds quotas; the free space that is reserved for root is none for PostgreSQL's user.
    """
    try:
        if shutil.disk_usage(folder).free < NEEDED_BYTES:
            return False
        with TemporaryFile(dir=folder) as probe:
            for _ in range(0, NEEDED_BYTES, len(_BLOCK)):
                probe.write(_BLOCK)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError:
        return False
    return True
