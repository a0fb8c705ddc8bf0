"""What a signal interrupts may hold any lock, also a handler: its work is to set a flag."""

import sys
import threading
from types import FrameType
from typing import Any
from unittest.mock import MagicMock

from backend.settings import Settings
from worker.process import WorkerProcess

SECONDS = 20


def test_a_second_signal_at_any_line_of_the_handler_does_no_harm() -> None:
    runtime = MagicMock()
    runtime.services.settings = Settings()
    process = WorkerProcess(runtime, watchdog_seconds=60)
    depth = 0

    def interrupt(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal depth
        if event == "line" and depth == 0:
            depth += 1
            sys.settrace(None)
            process.stop()
            sys.settrace(interrupt)
            depth -= 1
        return interrupt

    def handle() -> None:
        sys.settrace(interrupt)
        process.stop()
        sys.settrace(None)

    handler = threading.Thread(target=handle, daemon=True)
    handler.start()
    handler.join(SECONDS)

    assert not handler.is_alive()
