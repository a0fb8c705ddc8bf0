"""The process that forks children, watches their time and memory, and ends them.

It has one thread, no secrets, and the modules that the work needs, so that forking a child takes
milliseconds. `Sandbox` starts it as `python -m backend.sandbox.supervisor FD MODULE...`.
"""

import gc
import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from backend.sandbox import child
from backend.sandbox.messages import Bounds, End

GRACE_SECONDS = 0.6  # for a child to tell a database that its query is no longer wanted
_WATCH_SECONDS = 0.05
_IDLE_SECONDS = 1.0


class Child:
    """One forked process and its limits."""

    def __init__(self, process: int, order: socket.socket, bounds: Bounds) -> None:
        self.process = process
        self.order = order
        self.end = End.LEFT
        self._bounds = bounds
        self._began = time.monotonic()
        self._memory_at_first = _memory(process)
        self._ask_until: float | None = None

    def ask_to_stop(self, end: End) -> None:
        """Send SIGTERM; SIGKILL follows soon."""
        if self._ask_until is None:
            self.end = end
            self._ask_until = time.monotonic() + GRACE_SECONDS
            os.kill(self.process, signal.SIGTERM)

    def watch(self) -> None:
        """Stop it if it is over its time or memory limit; kill it if it does not stop."""
        now = time.monotonic()
        grown = _memory(self.process) - self._memory_at_first
        if self._ask_until is not None and now >= self._ask_until:
            os.kill(self.process, signal.SIGKILL)
        elif grown > self._bounds.megabytes * child.MEGABYTE:
            self.end = End.MEMORY if self.end == End.LEFT else self.end
            os.kill(self.process, signal.SIGKILL)
        elif now - self._began >= self._bounds.seconds:
            self.ask_to_stop(End.TIME)


class Supervisor:
    """Forks for the one process at the other end of `control`, and ends with it."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._parent = os.getppid()
        self._children: dict[int, Child] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._died, died = socket.socketpair()
        self._signals = (self._died, died)
        for end in self._signals:
            end.setblocking(False)
        signal.set_wakeup_fd(died.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Ctrl-C reaches the whole process group; the parent decides when to end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._selector.register(self._died, selectors.EVENT_READ)

    def serve(self) -> None:
        """Fork and watch children until the parent is gone."""
        while os.getppid() == self._parent and self._turn():
            pass
        for running in self._children.values():
            running.ask_to_stop(End.STOPPED)
        while self._children:
            self._watch()
            time.sleep(_WATCH_SECONDS)

    def _turn(self) -> bool:
        """Do the work that is due; return whether the parent is still there."""
        is_open = True
        for key, _ in self._selector.select(_WATCH_SECONDS if self._children else _IDLE_SECONDS):
            if key.fileobj is self._control:
                is_open = self._take()
            elif key.fileobj is self._died:
                self._died.recv(4096)
            else:  # the order was closed: its result is no longer wanted
                self._selector.unregister(key.fileobj)
                key.data.ask_to_stop(End.STOPPED)
        self._watch()
        return is_open

    def _take(self) -> bool:
        """Fork a child for one piece of work; return False if the parent is gone."""
        message, descriptors, _, _ = socket.recv_fds(self._control, 64, 2)
        if not message:
            return False
        talk, order = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        bounds = Bounds.unpack(message)
        own = os.getpid()
        try:
            process = os.fork()
        except OSError:  # no more processes or memory: the parent gets no reply
            talk.close()
            order.close()
            return True
        if not process:
            order.close()
            self._become_child(talk, bounds, own)
        talk.close()
        self._children[process] = Child(process, order, bounds)
        self._selector.register(order, selectors.EVENT_READ, self._children[process])
        return True

    def _become_child(self, talk: socket.socket, bounds: Bounds, parent: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            self._selector.close()
            for end in (self._control, *self._signals):
                end.close()
            for sibling in self._children.values():
                sibling.order.close()
            child.serve(talk, bounds, parent)
        # The parent gets no reply; the error itself may contain a secret.
        except BaseException:  # noqa: BLE001
            os._exit(1)
        os._exit(0)

    def _watch(self) -> None:
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not process:
                break
            self._report_end(self._children.pop(process), status)
        for running in self._children.values():
            running.watch()

    def _report_end(self, ended: Child, status: int) -> None:
        """Tell the parent why the child has ended."""
        # C++ and Rust libraries abort like this when memory is refused.
        is_aborted = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT
        if is_aborted and ended.end is End.LEFT:
            ended.end = End.MEMORY
        with suppress(KeyError):
            self._selector.unregister(ended.order)
        with suppress(OSError):  # the parent is gone, or no longer waits
            ended.order.send(ended.end.encode())
        ended.order.close()


def _memory(process: int) -> int:
    """Return the memory of a process that cannot be reclaimed: pages of files can."""
    sizes = child.private_memory(process)
    return sizes["RssAnon"] + sizes["RssShmem"]


def main() -> None:
    """Import the modules that the work needs, and serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        import_module(name)
    gc.collect()
    gc.freeze()  # otherwise each child's first collection would copy all pages
    Supervisor(control).serve()
    os._exit(0)  # libraries that only children use have nothing to clean up


if __name__ == "__main__":
    main()
