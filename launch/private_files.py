"""Files that only their owner may read: passwords, URLs that hold them, and locks."""

import fcntl
import os
import secrets
from pathlib import Path

PRIVATE = 0o600


def write_private(path: Path, text: str) -> None:
    """Put `text` into `path` in one move: a reader finds the old text or the new, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "w") as file:
        os.fchmod(file.fileno(), PRIVATE)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def read_private(path: Path) -> str | None:
    """Return the file's text, or None where there is no such file or it is another user's."""
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def password_in(path: Path) -> str:
    """Return the password kept in `path`; a new random one is made where there is none yet."""
    password = read_private(path)
    if password is None:
        password = secrets.token_urlsafe(24)
        write_private(path, password)
    return password


class FolderLock:
    """A lock that its holder's end releases, even SIGKILL; a file left behind means nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock, or find that this object holds it already; False: another has it."""
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
        """Return whether nobody holds the lock now; a holder in this process counts too."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY)
        except OSError:
            return True
        try:
            # Shared, so that two who ask at the same time do not see each other.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True

    def release(self) -> None:
        """Give the lock back, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
