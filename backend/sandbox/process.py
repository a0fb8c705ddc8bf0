"""The supervisor as its parent sees it: how it is started, with which environment, and ended."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Protocol

from backend.sandbox.errors import Killed
from backend.sandbox.messages import Bounds
from backend.sandbox.supervisor import GRACE_SECONDS

_KEPT_NAMES = """
    HOME LANG LANGUAGE LD_LIBRARY_PATH NLS_LANG ORACLE_HOME PATH PGPASSFILE PGSERVICEFILE
    PGSSLCERT PGSSLKEY PGSSLMODE PGSSLROOTCERT SSL_CERT_DIR SSL_CERT_FILE TMPDIR TNS_ADMIN TZ
"""
_KEPT_ENVIRONMENT = frozenset(_KEPT_NAMES.split())
# Only one thread is forked, so libraries may start none when they are imported; and each arena of
# malloc reserves memory that counts as taken.
_QUIET_LIBRARIES = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # the others reserve addresses, which count as taken
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
}


class Process(Protocol):
    """A started process, in the words of `subprocess.Popen`."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """Send SIGKILL."""


def launch(control: socket.socket, preload: Sequence[str]) -> Process:
    """Start it from nothing, with a clean environment."""
    module = "backend.sandbox.supervisor"
    return subprocess.Popen(  # noqa: S603 - this Python and our own module
        [sys.executable, "-m", module, str(control.fileno()), *preload],
        env=clean(os.environ),
        pass_fds=[control.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # a signal to the parent's group is the parent's affair
    )


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what may be secret."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _KEPT_ENVIRONMENT or name.startswith("LC_")
    }
    places = os.pathsep.join(place or os.getcwd() for place in sys.path)
    return kept | _QUIET_LIBRARIES | {"PYTHONPATH": places}


class SupervisorProcess:
    """The supervisor as its parent sees it: started when needed, and again if it was killed."""

    launch = staticmethod(launch)  # how it starts; tests fork it

    def __init__(self, preload: Sequence[str]) -> None:
        self._preload = preload
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._process: Process | None = None
        self._is_closed = False

    def start(self) -> None:
        """Start it if it does not run."""
        with self._lock:
            self._started()

    def fork(self, talk: socket.socket, order: socket.socket, bounds: Bounds) -> None:
        """Have it fork a child that works for the other ends of these sockets."""
        descriptors = [talk.fileno(), order.fileno()]
        with self._lock:
            try:
                socket.send_fds(self._started(), [bounds.pack()], descriptors)
            except (BrokenPipeError, ConnectionResetError):
                self._forget()
                socket.send_fds(self._started(), [bounds.pack()], descriptors)

    def close(self) -> None:
        """End it and its children."""
        with self._lock:
            self._is_closed = True
            self._forget()

    def _started(self) -> socket.socket:
        if self._is_closed:
            raise Killed
        if self._control is None:
            self._control, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with its:
                self._process = self.launch(its, self._preload)
        return self._control

    def _forget(self) -> None:
        control, process = self._control, self._process
        self._control = self._process = None
        if control is None or process is None:
            return
        control.close()
        try:
            process.wait(GRACE_SECONDS * 2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
