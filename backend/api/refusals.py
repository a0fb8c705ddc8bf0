"""Refused calls of people and programs: each a line of the log, at a bounded rate."""

import logging
import time
from threading import Lock
from typing import Any

from fastapi import Request

from backend.logs.setup import REFUSED

A_MINUTE = 60  # lines; the next one says how many were left out
STATUSES = (401, 403)
log = logging.getLogger(REFUSED)


class Refusals:
    """Logs the refusals of one process; the metrics count them all among its problems."""

    def __init__(self, a_minute: int = A_MINUTE) -> None:
        self._a_minute = a_minute
        self._lock = Lock()
        self._minute, self._written, self._left_out = 0, 0, 0

    def note(self, request: Request, status: int, why: str) -> None:
        """Log a refusal, without ids and tokens of its address; not that nobody is signed in."""
        if status not in STATUSES or (status == STATUSES[0] and not _has_token(request)):
            return
        with self._lock:
            left_out = self._take(int(time.monotonic() // 60))
        if left_out is None:
            return
        fields: dict[str, Any] = {
            "status": status,
            "why": why,
            "method": request.method,
            "route": getattr(request.scope.get("route"), "path", ""),
            "address": request.client.host if request.client else "",
        }
        log.warning("refused", extra=fields | ({"left_out": left_out} if left_out else {}))

    def _take(self, minute: int) -> int | None:
        """Return how many were left out before this one; None: leave this one out, too."""
        if minute != self._minute:
            self._minute, self._written = minute, 0
        if self._written >= self._a_minute:
            self._left_out += 1
            return None
        self._written += 1
        left_out, self._left_out = self._left_out, 0
        return left_out


def _has_token(request: Request) -> bool:
    return "authorization" in request.headers
