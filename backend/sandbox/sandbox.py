"""Runs work whose cost an outsider controls in a process with limits, which can be killed.

A supervisor forks a child for each piece of work (`supervisor.py`). The parent waits in its own
threads, so that neither its loop nor short work is blocked.
"""

import asyncio
import logging
import os
import pickle
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from threading import Lock
from typing import TypeVar, cast

from backend.logs.fields import as_known_here
from backend.sandbox.child import LARGEST_MESSAGE
from backend.sandbox.errors import (
    Killed,
    OutOfMemory,
    OutOfTime,
    ResultTooLarge,
    SandboxBusy,
    WorkFailed,
)
from backend.sandbox.messages import Bounds, End, TooLong, receive, send
from backend.sandbox.process import SupervisorProcess
from backend.sandbox.slots import Slots
from backend.sandbox.supervisor import GRACE_SECONDS

SHORT_SECONDS = 5.0  # work with at most this limit has slots of its own
_SHORT_AT_ONCE = 4
_SHORT_OF_ONE_KEY = 3
_SHORT_SPARE = 1  # for keys that hold no slot
_LONG_AT_ONCE = 8
_LONG_OF_ONE_KEY = 4
_LONG_SPARE = 2
_START_SECONDS = 30.0  # for a supervisor to import its modules on a busy machine
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Sandbox:
    """The sandbox of a process; thread-safe. `preload` names the modules that the work needs."""

    def __init__(self, preload: Sequence[str] = ()) -> None:
        self._preload = preload
        self._begin()

    def start(self) -> None:
        """Start the supervisor without waiting for it, so that it is ready for the first work."""
        self._check_owner()
        self._supervisor.start()

    async def run(
        self,
        work: Callable[..., T],
        *arguments: object,
        bounds: Bounds,
        key: str = "",
        wait_seconds: float | None = None,
    ) -> T:
        """Return `work(*arguments)`, computed in a child.

        Cancelling ends the child. Raise what `work` raises if it is an AppError, else a
        SandboxError. `key`: the person it is done for, who cannot occupy all slots; all work
        without one counts as one person's. `wait_seconds`: how long to wait for a slot, by default
        as long as the work itself may take.
        """
        self._check_owner()
        slots = self._short if bounds.seconds <= SHORT_SECONDS else self._long
        place = slots.take(key)
        try:
            async with asyncio.timeout(wait_seconds or bounds.seconds):
                await asyncio.shield(asyncio.wrap_future(place))
        except TimeoutError:
            slots.leave(key, place)
            raise SandboxBusy from None
        except BaseException:
            slots.leave(key, place)
            raise
        piece = _Piece(work, arguments, bounds)
        answer = self._threads.submit(as_known_here(piece.carry_out), self._supervisor)
        answer.add_done_callback(lambda _: slots.give_back(key))
        try:
            return cast(T, await asyncio.wrap_future(answer))
        except asyncio.CancelledError:
            piece.stop()
            raise

    def run_blocking(
        self, work: Callable[..., T], *arguments: object, bounds: Bounds, key: str = ""
    ) -> T:
        """Do the same as `run`, for a plain thread."""
        self._check_owner()
        slots = self._short if bounds.seconds <= SHORT_SECONDS else self._long
        place = slots.take(key)
        try:
            place.result(bounds.seconds)
        except TimeoutError:
            slots.leave(key, place)
            raise SandboxBusy from None
        try:
            return cast(T, _Piece(work, arguments, bounds).carry_out(self._supervisor))
        finally:
            slots.give_back(key)

    def close(self) -> None:
        """End all children and the supervisor; accept no more work."""
        self._check_owner()
        self._supervisor.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> None:
        self._owner = os.getpid()
        self._supervisor = SupervisorProcess(self._preload)
        self._short = Slots(_SHORT_AT_ONCE, _SHORT_OF_ONE_KEY, _SHORT_SPARE)
        self._long = Slots(_LONG_AT_ONCE, _LONG_OF_ONE_KEY, _LONG_SPARE)
        self._threads = ThreadPoolExecutor(
            _SHORT_AT_ONCE + _LONG_AT_ONCE, thread_name_prefix="sandbox"
        )

    def _check_owner(self) -> None:
        """Reset in a forked process: threads and supervisor belong to its parent."""
        if self._owner != os.getpid():
            self._begin()


class _Piece:
    """One piece of work, from waiting for a child to its result."""

    def __init__(
        self, work: Callable[..., object], arguments: Sequence[object], bounds: Bounds
    ) -> None:
        self._work = work
        self._arguments = arguments
        self._bounds = bounds
        self._lock = Lock()
        self._order: socket.socket | None = None
        self._is_stopped = False

    def carry_out(self, supervisor: "SupervisorProcess") -> object:
        """Make a child do the work; return its result."""
        message = pickle.dumps((self._work, self._arguments), pickle.HIGHEST_PROTOCOL)
        with ExitStack() as open_sockets:
            ends = [*socket.socketpair(), *socket.socketpair()]
            talk, its_talk, order, its_order = (open_sockets.enter_context(end) for end in ends)
            for end in (talk, order):
                end.settimeout(self._bounds.seconds + GRACE_SECONDS + _START_SECONDS)
            supervisor.fork(its_talk, its_order, self._bounds)
            its_talk.close()
            its_order.close()
            self._may_be_stopped(order)
            try:
                return _result(_reply(talk, order, message))
            finally:
                self._may_be_stopped(None)

    def stop(self) -> None:
        """End the child, now or as soon as it exists, without waiting."""
        with self._lock:
            self._is_stopped = True
            _close_writing(self._order)

    def _may_be_stopped(self, order: socket.socket | None) -> None:
        with self._lock:
            self._order = order
            if self._is_stopped:
                _close_writing(order)


def _close_writing(order: socket.socket | None) -> None:
    """Tell the supervisor that the work is no longer wanted."""
    if order is not None:
        with suppress(OSError):
            order.shutdown(socket.SHUT_WR)


def _reply(talk: socket.socket, order: socket.socket, message: bytes) -> bytes:
    try:
        # If the child ends before it has read everything, the supervisor is asked why below.
        with suppress(BrokenPipeError, ConnectionResetError):
            send(talk, message)
        return receive(talk, LARGEST_MESSAGE)
    except TooLong:
        raise ResultTooLarge from None
    except TimeoutError:
        raise OutOfTime from None
    except (EOFError, ConnectionResetError):
        raise _reason(order) from None


def _reason(order: socket.socket) -> Exception:
    """Return why there is no result, as the supervisor reports it."""
    try:
        end = order.recv(64).decode()
    except OSError:
        end = ""
    reasons = {End.TIME: OutOfTime, End.MEMORY: OutOfMemory}
    return reasons.get(End(end), Killed)() if end else Killed()


def _result(reply: bytes) -> object:
    kind, value = pickle.loads(reply)  # noqa: S301 - written by a process that runs our code only
    if kind == "raised":
        raise value
    if kind == "failed":
        _log.warning("Work in the sandbox failed: %s", value)
        raise WorkFailed
    return value
