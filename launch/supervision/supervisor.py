"""Start services in order, keep them running, and stop all of them in reverse order."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import NoReturn

from launch.console import Console
from launch.errors import LaunchError
from launch.processes.guard import Guard
from launch.supervision.restarts import LONGEST_DELAY_SECONDS, RestartPolicy
from launch.supervision.services import Service

POLL_SECONDS = 0.1
READY_SECONDS = 120.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KILLED_STATUS = 130
FAILED_STATUS = 1
# make passes on signals that the terminal has sent to both: signals this close are one request.
SAME_REQUEST_SECONDS = 0.5


class Stopped(Exception):
    """The launcher was asked to stop."""


class PartFailed(LaunchError):
    """A part of Colloquy ended and could not be kept running."""


class Supervisor:
    """A context manager: on exit it stops all started services, the latest first.

    The first SIGINT, SIGTERM or SIGHUP stops everything in order, a second one kills.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._services: list[Service] = []
        self._policies: dict[str, RestartPolicy] = {}
        self._restart_at: dict[str, float] = {}
        self._obstacles: dict[str, str | None] = {}
        self._starting: set[str] = set()
        self._guard = Guard()
        self._stop_asked_at: float | None = None
        self._old_handlers: dict[int, Callable[..., object] | int | None] = {}

    def __enter__(self) -> "Supervisor":
        for number in STOP_SIGNALS:
            # nohup ignores SIGHUP on purpose, so keep it ignored.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._old_handlers[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop_all()
        self._guard.dismiss()
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)

    def start(self, service: Service) -> None:
        """Start `service`; it is stopped at the end even if its start fails half-way.

        Raise PartFailed, which says what keeps it from starting.
        """
        self.check_stop()
        self._services.append(service)
        self._policies[service.name] = RestartPolicy()
        try:
            self._start(service, self.check_stop)
        except (LaunchError, OSError) as error:
            raise PartFailed(service.obstacle() or str(error)) from error

    def run_to_end(self, service: Service) -> None:
        """Run a service until it ends. Raise PartFailed unless its status is 0."""
        self.start(service)
        while service.exit_status() is None:
            self.check_stop()
            time.sleep(POLL_SECONDS / 5)
        self._services.remove(service)
        if service.exit_status() != 0:
            raise _failure(service)

    def wait_until_ready(self, services: Sequence[Service]) -> None:
        """Wait until each is ready. Raise PartFailed if any ends before, without a restart."""
        waiting = list(services)
        deadline = time.monotonic() + READY_SECONDS
        while waiting:
            self.check_stop()
            ended = [service for service in self._services if service.exit_status() is not None]
            if ended:
                raise _failure(ended[0])
            waiting = [service for service in waiting if not service.is_ready()]
            if waiting and time.monotonic() > deadline:
                raise PartFailed(
                    f"{waiting[0].name} was not ready after {READY_SECONDS:.0f} seconds."
                    + _quoted(waiting[0])
                )
            time.sleep(POLL_SECONDS / 2)

    def watch(self) -> NoReturn:
        """Keep all running. Raise Stopped on a stop signal, PartFailed if a part is given up."""
        while True:
            self._look_after_all()
            time.sleep(POLL_SECONDS)

    def check_stop(self) -> None:
        """Raise Stopped if a stop signal was received."""
        if self._stop_asked_at is not None:
            raise Stopped

    def _look_after_all(self) -> None:
        """Look after all services; also while one of them starts, such as a recovering database."""
        self.check_stop()
        for service in self._services:
            if service.name not in self._starting:
                self._look_after(service)

    def _look_after(self, service: Service) -> None:
        due = self._restart_at.get(service.name)
        if due is None:
            status = service.exit_status()
            if status is not None:
                self._plan_restart(service, status, f"ended with status {status}")
        elif time.monotonic() >= due:
            del self._restart_at[service.name]
            try:
                self._start(service, self._look_after_all)
            except PartFailed:
                raise  # another one was given up meanwhile
            except (LaunchError, OSError) as error:
                self._plan_restart(service, FAILED_STATUS, str(error))

    def _plan_restart(self, service: Service, status: int, reason: str) -> None:
        """Plan it, with an end to all if it keeps crashing and nothing is known to hinder it."""
        now, obstacle = time.monotonic(), service.obstacle()
        delay: float | None = LONGEST_DELAY_SECONDS
        if obstacle is None:
            delay = self._policies[service.name].delay_after_end(status, now)
        if delay is None:
            raise _failure(service)
        if obstacle is None or obstacle != self._obstacles.get(service.name):
            self._console.part(service.name, obstacle or f"{reason}; restarting it")
        self._obstacles[service.name] = obstacle
        self._restart_at[service.name] = now + delay

    def _start(self, service: Service, meanwhile: Callable[[], None]) -> None:
        self._starting.add(service.name)
        try:
            service.start(meanwhile)
        finally:
            self._starting.remove(service.name)
        pid = service.pid()
        if pid is not None:
            self._guard.watch(pid, service.stop_signal)

    def _stop_all(self) -> None:
        if self._services:
            self._console.progress("stopping")
        for service in reversed(self._services):
            service.stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Take no lock and do not print: the main thread may be in the middle of either.
        now = time.monotonic()
        if self._stop_asked_at is None:
            self._stop_asked_at = now
        elif now - self._stop_asked_at > SAME_REQUEST_SECONDS:
            for service in reversed(self._services):
                with contextlib.suppress(OSError):
                    service.kill()
            os.write(sys.stderr.fileno(), b"\nKilled.\n")
            os._exit(KILLED_STATUS)


def _failure(service: Service) -> PartFailed:
    status = service.exit_status()
    how = "could not be started" if status is None else f"ended with status {status}"
    return PartFailed(f"{service.name} {how}, so Colloquy stops.{_quoted(service)}")


def _quoted(service: Service) -> str:
    lines = service.last_lines()
    return " Its last lines:\n" + "\n".join(f"    {line}" for line in lines) if lines else ""
