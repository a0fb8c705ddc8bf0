"""Files that only their owner may read: passwords, URLs that hold them, and locks."""

import fcntl
import os
import secrets
from pathlib import Path

PRIVATE = 0o600


def write_private(path: Path, text: str) -> None:
    """Write `text` to `path` atomically: a reader sees the old text or the new, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "w") as file:
        os.fchmod(file.fileno(), PRIVATE)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read_private(path: Path) -> str | None:
    """Return the file's text, or None if it does not exist or belongs to another user."""
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def password_in(path: Path) -> str:
    """Return the password stored in `path`; create a random one if there is none yet."""
    password = read_private(path)
    if password is None:
        password = secrets.token_urlsafe(24)
        write_private(path, password)
    return password


class FolderLock:
    """A lock that is released when its holder ends, even by SIGKILL; a stale file is harmless."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Return whether this object now holds the lock; False if another holder has it."""
        if self._descriptor is not None:
            return True
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def is_free(self) -> bool:
        """Return whether the lock is free; a holder in this process counts too."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY)
        except OSError:
            return True
        try:
            # Shared, so that two concurrent checks do not see each other as holders.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
