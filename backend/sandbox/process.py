"""The supervisor's process as its parent sees it: its environment, its start and its end."""

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
    PGSSLCERT PGSSLKEY PGSSLMODE PGSSLROOTCERT SSL_CERT_DIR SSL_CERT_FILE TMPDIR TNS_ADMIN
"""
_KEPT_ENVIRONMENT = frozenset(_KEPT_NAMES.split())
# Only one thread survives a fork, so libraries must not start any on import; and each malloc arena
# reserves address space, which counts against the limit.
_QUIET_LIBRARIES = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # other pools reserve address space, too
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
}
_ZONE = {"TZ": "UTC"}  # results do not depend on the server's zone: SQLite's 'localtime', charts


class Process(Protocol):
    """A started process: the part of `subprocess.Popen` that is used."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the process to end. Raise subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """Send SIGKILL."""


def launch(control: socket.socket, preload: Sequence[str]) -> Process:
    """Start the supervisor as a new interpreter with a clean environment."""
    module = "backend.sandbox.supervisor"
    return subprocess.Popen(  # noqa: S603 - this Python and our own module
        [sys.executable, "-m", module, str(control.fileno()), *preload],
        env=clean(os.environ),
        pass_fds=[control.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # signals to the parent's group are for the parent to handle
    )


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that may hold secrets."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _KEPT_ENVIRONMENT or name.startswith("LC_")
    }
    places = os.pathsep.join(place or os.getcwd() for place in sys.path)
    return kept | _QUIET_LIBRARIES | _ZONE | {"PYTHONPATH": places}


class SupervisorProcess:
    """The supervisor's process: started when needed, and again if it was killed."""

    launch = staticmethod(launch)  # how to start it; tests fork it instead

    def __init__(self, preload: Sequence[str]) -> None:
        self._preload = preload
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._process: Process | None = None
        self._is_closed = False

    def start(self) -> None:
        """Start the supervisor unless it is running."""
        with self._lock:
            self._started()

    def fork(self, talk: socket.socket, order: socket.socket, bounds: Bounds) -> None:
        """Make the supervisor fork a child that works for the other ends of these sockets."""
        descriptors = [talk.fileno(), order.fileno()]
        with self._lock:
            try:
                socket.send_fds(self._started(), [bounds.pack()], descriptors)
            except (BrokenPipeError, ConnectionResetError):
                self._forget()
                socket.send_fds(self._started(), [bounds.pack()], descriptors)

    def close(self) -> None:
        """End the supervisor and its children."""
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
